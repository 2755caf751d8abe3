"""Detects trouble: what is wrong with a tool's answer, by its codes, flags, keys and words.

Domain data may well speak of errors, so that only what is about the call counts. What a tool was asked for, an argument
that an answer repeats, and a record about a thing that failed are no trouble of the call.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from toolevals.grading.layers.troubles.bodies import LONGEST_EXCERPT, CallFacts, trouble_in_body
from toolevals.grading.layers.troubles.texts import (
    ERROR_CLASSES,
    HEAD,
    TRANSIENT,
    ClassifiedError,
    ErrorClass,
    class_of_words,
    part_told,
    reads_as_error,
    trouble_in_text,
)
from toolevals.grading.values import Call
from toolevals.grading.values.tools import Effect
from toolevals.json_types import JsonValue

__all__ = ["ERROR_CLASSES", "LONGEST_EXCERPT", "TRANSIENT", "ErrorClass", "Trouble", "trouble_in"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An answer that is an error, or has nothing or only a part in it.

    `excerpt` is the answer's beginning. `pointer` is the JSON pointer of what tells, empty where the
    whole answer tells; `words` are what stands there, at most 200 characters.
    """

    error_class: ErrorClass
    excerpt: str
    pointer: str = ""
    words: str = ""

    @property
    def is_error(self) -> bool:
        """Tell an error from an answer that is merely empty or partial."""
        return self.error_class not in ("empty", "partial")


def trouble_in(
    content: str, *, is_error: bool = False, call: Call | None = None, effect: Effect | None = None
) -> Trouble | None:
    """Return what is wrong with a tool's answer, None where nothing is. Text without a character is `empty`.

    `is_error` says that the answer is flagged as an error, so that it is one. `call` is what it answers: with it the
    answer's own data are told from the call's failure. `effect` is what the tool does, by its name where not given.
    Linear in the answer's length.
    """
    call_facts = CallFacts.of(call, effect)
    told = _told(content, call_facts, is_error)
    if told is None:
        return None
    return Trouble(
        told.error_class, content[:LONGEST_EXCERPT].strip(), told.pointer, told.words[:LONGEST_EXCERPT].strip()
    )


def _told(content: str, call_facts: CallFacts, is_error: bool) -> ClassifiedError | None:
    first = content[:64].lstrip()[:1]
    body: JsonValue = None
    if first in ("{", "[", '"'):
        try:
            body = orjson.loads(content)
        except ValueError:
            body = None
    if isinstance(body, dict | list):
        found = trouble_in_body(body, call_facts, is_error=is_error)
        if is_error and (found is None or found.error_class in ("empty", "unknown")):
            return ClassifiedError(class_of_words(content), content)
        return found
    if body is None and first in ("{", "[") and not is_error:
        return ClassifiedError("partial", content[-40:]) if part_told(content[-HEAD:]) or _is_cut_off(content) else None
    text = body if isinstance(body, str) else content
    told = trouble_in_text(text, is_error=is_error, about_faults=call_facts.about_faults)
    if told is not None and not is_error and any(reads_as_error(value) for value in call_facts.echo):
        return None  # A text about an error was asked for: a title, a translation.
    return told


def _is_cut_off(content: str) -> bool:
    """Tell JSON that ends in the middle from other text in brackets."""
    return content.lstrip()[:2] in ('{"', "[{", '["') and content.rstrip()[-1] not in "]}"
