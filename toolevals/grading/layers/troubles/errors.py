"""Finds the member of a JSON object that says that a call failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.layers.troubles.classes import class_of_code, class_of_words, error_code
from toolevals.grading.layers.troubles.keys import (
    CODE_KEYS,
    EMPTY_VALUES,
    ENVELOPES,
    FAILURE_WORDS,
    MESSAGE_KEYS,
    META_KEYS,
    NO_ERROR,
    PLAIN_CODE_KEYS,
    STATUS_KEYS,
    SURE_FAILURES,
    is_error_key,
    plain_key,
)
from toolevals.grading.layers.troubles.texts import ClassifiedError, trouble_in_text
from toolevals.grading.layers.troubles.trouble import CallFacts
from toolevals.grading.values.effects_by_name import past_of

# `E0421`, `ERR_17`: a code of an error.
_OWN_CODE = re.compile(r"E(?:RR(?:OR)?)?[-_]?\d+", re.IGNORECASE)

_EXPLAINS = frozenset({"message", "msg", "detail", "details", "reason", "description"})


class Errors:
    """Looks for the member of an object that says that the call failed. `plain` are its keys in plain form."""

    def __init__(self, body: Mapping[str, Any], plain: Mapping[str, str], call_facts: CallFacts) -> None:
        self.body, self.plain, self.call_facts = body, plain, call_facts
        # What the object holds beside its error and what was asked.
        self.content = [
            key
            for name, key in plain.items()
            if name not in MESSAGE_KEYS | META_KEYS | CODE_KEYS
            and not is_error_key(name)
            and body[key] not in EMPTY_VALUES
            and not call_facts.echoes(body[key])
        ]
        self.explained = any(is_error_key(name) or name in MESSAGE_KEYS for name in plain if body[plain[name]])

    def found(self, *, is_element: bool = False) -> ClassifiedError | None:
        """Return the error, None where there is none. An element of a list may well be a record about an error."""
        if self.body.get("isError") is True or self.body.get("is_error") is True:
            return self._told("isError" if "isError" in self.body else "is_error", None)
        return (
            self._coded()
            or self._said()
            or self._flagged()
            or self._undone()
            or self._numbered()
            or (None if is_element else self._worded())
        )

    @property
    def _is_record(self) -> bool:
        """Return whether the object is about a thing that failed, and answers what was asked about it."""
        return self._reads and len(self.content) >= 2

    @property
    def _reads(self) -> bool:
        return self.call_facts.effect != "writes" and bool(self.call_facts.words)

    def _told(self, key: str, said: Any) -> ClassifiedError:
        first = said[0] if isinstance(said, list) and said else said
        inner = first if isinstance(first, dict) else {}
        code = next((code for holder in (inner, self.body) if (code := _code_in(holder)) is not None), None)
        words = words_of(self.body, said)
        error_class = class_of_words(words) if code is None else class_of_code(code)
        return ClassifiedError(error_class, words or f"{key}: {self.body[key]}", pointer_to(key))

    def _coded(self) -> ClassifiedError | None:
        for name, key in self.plain.items():
            sure = name in CODE_KEYS
            code = error_code(self.body[key]) if sure or name in PLAIN_CODE_KEYS else None
            if code is None:
                continue
            if not self.content or (sure and not self._reads) or (self.explained and (sure or not self._is_record)):
                words = words_of(self.body, None)
                return ClassifiedError(class_of_code(code), words or f"{key}: {self.body[key]}", pointer_to(key))
        return None

    def _said(self) -> ClassifiedError | None:
        for name, key in self.plain.items():
            said = self.body[key]
            if not is_error_key(name) or not self._is_error_value(said):
                continue
            if isinstance(said, list | dict) and name.endswith("errors"):
                if self.call_facts.about_faults:
                    continue
                if any(has_data(value) for other, value in self.body.items() if other in ENVELOPES):
                    return ClassifiedError("partial", words_of(self.body, said), pointer_to(key))
            if self._is_record and _code_in(self.body) is None:
                continue
            return self._told(key, said)
        return None

    def _is_error_value(self, said: Any) -> bool:
        """Tell an error from a number about errors, such as an error rate, and from what says that there is none."""
        if isinstance(said, str):
            return bool(said.strip()) and said.strip().lower() not in NO_ERROR
        if isinstance(said, bool):
            return said
        if isinstance(said, dict):
            return any(value not in EMPTY_VALUES and (not isinstance(value, int | float) or plain_key(key) in
                       PLAIN_CODE_KEYS | CODE_KEYS) for key, value in said.items())  # fmt: skip
        if isinstance(said, list):
            return any(isinstance(item, str | dict) and item for item in said)
        return (
            isinstance(said, int)
            and said != 0
            and any(name in MESSAGE_KEYS and isinstance(self.body[key], str) for name, key in self.plain.items())
        )

    def _flagged(self) -> ClassifiedError | None:
        for name in ("success", "ok", "succeeded", "successful"):
            key = self.plain.get(name)
            if key is not None and (self.body[key] is False or self.body[key] == "false") and not self._is_record:
                return self._told(key, None)
        for name in STATUS_KEYS:
            key = self.plain.get(name)
            word = self.body[key] if key is not None else None
            if key is None or not isinstance(word, str) or not _is_failure(word) or self._is_record:
                continue
            if plain_key(word) in FAILURE_WORDS - SURE_FAILURES and self._reads and self.content:
                continue
            if self.explained or (plain_key(word) == "error" and not self.content):
                return self._told(key, None)
        code = self.plain.get("exitcode") or self.plain.get("returncode")
        stderr = self.plain.get("stderr")
        if (
            code
            and self.body[code] not in EMPTY_VALUES
            and stderr
            and self.body[stderr]
            and not self.body.get("stdout")
        ):
            words = str(self.body[stderr])
            return ClassifiedError(class_of_words(words), words, pointer_to(stderr))
        return None

    def _numbered(self) -> ClassifiedError | None:
        """A code of the tool's own next to words that tell of an error, and nothing else: gRPC's status object."""
        code = self.plain.get("code")
        message = next((key for name, key in self.plain.items() if name in _EXPLAINS), None)
        if not code or not message or self.content or not isinstance(self.body[code], int | str):
            return None
        words = words_of(self.body, None)
        error_class = class_of_words(words)
        if self.body[code] in (0, 200, "0", "200") or (
            error_class == "unknown" and not _OWN_CODE.fullmatch(str(self.body[code])[:20])
        ):
            return None
        return ClassifiedError(error_class, words, pointer_to(message))

    def _worded(self) -> ClassifiedError | None:
        """Nothing but a message, which reads as an error does."""
        keys = [
            key
            for name, key in self.plain.items()
            if name in MESSAGE_KEYS and name != "title" and isinstance(self.body[key], str)
        ]
        if not keys or self.content:
            return None
        told = trouble_in_text(self.body[keys[0]], is_error=False, about_faults=self.call_facts.about_faults)
        return (
            None
            if told is None or told.error_class in ("empty", "partial")
            else told._replace(pointer=pointer_to(keys[0]))
        )

    def _undone(self) -> ClassifiedError | None:
        """A writing tool's own deed is false: `{"cancelled": false, "reason": ...}`."""
        if self.call_facts.effect != "writes" or not self.call_facts.words:
            return None
        for name, key in self.plain.items():
            if self.body[key] is False and any(_is_deed(name, word) for word in self.call_facts.words):
                return self._told(key, None)
        return None


def _is_failure(word: str) -> bool:
    plain = plain_key(word)
    return plain in FAILURE_WORDS or plain.endswith(("error", "exception"))


def _is_deed(key: str, verb: str) -> bool:
    stem = past_of(verb)
    stem = stem.rstrip("ey") if stem == verb else stem
    return len(stem) >= 3 and key.startswith(stem) and len(key) <= len(stem) + 4


def pointer_to(*keys: str | int) -> str:
    """Return the JSON pointer of these keys."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def _code_in(body: Mapping[str, Any]) -> int | None:
    return next((code for key, value in body.items() if plain_key(key) in CODE_KEYS | PLAIN_CODE_KEYS
                 and (code := error_code(value)) is not None), None)  # fmt: skip


def words_of(body: Mapping[str, Any], said: Any) -> str:
    """Return what an object says of its error, in the order in which it says it."""
    told: list[str] = []
    for holder in (said, body):
        if isinstance(holder, str):
            told.append(holder)
        elif isinstance(holder, list):
            told += [item if isinstance(item, str) else words_of(item, None) for item in holder[:3] if item]
        elif isinstance(holder, dict):
            told += _texts(holder, 2)
    return " ".join(dict.fromkeys(part[:200] for part in told if part))[: 200 * 2]


def _texts(holder: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, value in list(holder.items())[:50]:
        told = is_error_key(plain_key(key)) or plain_key(key) in MESSAGE_KEYS | {
            "code",
            "type",
            "status",
            "name",
            "extensions",
            "content",
        }
        if isinstance(value, str) and told:
            yield value
        elif isinstance(value, dict) and told and depth:
            yield from _texts(value, depth - 1)
        elif isinstance(value, list) and value and isinstance(value[0], str) and depth:
            yield value[0]
        elif isinstance(value, list) and value and isinstance(value[0], dict) and told and depth:
            yield from _texts(value[0], depth - 1)


def has_data(value: Any) -> bool:
    """Tell whether a value holds anything but nulls and empty text, at any depth."""
    if isinstance(value, dict):
        return any(has_data(inner) for inner in value.values())
    if isinstance(value, list):
        return any(has_data(inner) for inner in value)
    return value not in EMPTY_VALUES or value is False or (value == 0 and value is not None)
