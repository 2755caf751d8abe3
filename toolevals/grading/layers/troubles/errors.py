"""Finds the member of a JSON object that says that a call failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.layers.troubles.classes import ClassifiedError, class_of_code, class_of_words, error_code
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
    CallFacts,
    is_error_key,
    plain_key,
    pointer_to,
)
from toolevals.grading.layers.troubles.texts import trouble_in_text

# `E0421`, `ERR_17`: a code of an error.
_OWN_CODE = re.compile(r"E(?:RR(?:OR)?)?[-_]?\d+", re.IGNORECASE)
_EXPLAINS = frozenset({"message", "msg", "detail", "details", "reason", "description"})
# What tells of an error besides messages.
_TOLD = MESSAGE_KEYS | {"code", "type", "status", "name", "extensions", "content"}
_MOST_MEMBERS, _LONGEST = 50, 200


class Errors:
    """Looks for the member of an object that says that the call failed. `plain` are its keys in plain form."""

    def __init__(self, body: Mapping[str, Any], call_facts: CallFacts) -> None:
        self.body, self.call_facts = body, call_facts
        self.plain = {plain_key(key): key for key in reversed(list(body))}
        # What the object holds beside its error and what was asked.
        self.content = [
            key
            for name, key in self.plain.items()
            if not (name in MESSAGE_KEYS | META_KEYS | CODE_KEYS or is_error_key(name))
            and not (body[key] in EMPTY_VALUES or call_facts.echoes(body[key]))
        ]
        self.explained = any(
            body[key] and (is_error_key(name) or name in MESSAGE_KEYS) for name, key in self.plain.items()
        )
        self._reads = call_facts.effect != "writes" and bool(call_facts.words)
        # It is about a thing that failed, and answers what was asked about it.
        self._is_record = self._reads and len(self.content) >= 2

    def found(self, *, is_element: bool = False) -> ClassifiedError | None:
        """Return the error, None where there is none. An element of a list may well be a record about an error."""
        for flag in ("isError", "is_error"):
            if self.body.get(flag) is True:
                return self._told(flag, None)
        found = self._coded() or self._said() or self._flagged() or self._numbered()
        return found or (None if is_element else self._worded())

    def _told(self, key: str, said: Any) -> ClassifiedError:
        first = said[0] if isinstance(said, list) and said else said
        holders = (first, self.body) if isinstance(first, dict) else (self.body,)
        code = next((code for holder in holders if (code := _code_in(holder)) is not None), None)
        words = words_of(self.body, said)
        error_class = class_of_words(words) if code is None else class_of_code(code)
        return ClassifiedError(error_class, words or f"{key}: {self.body[key]}", pointer_to(key))

    def _coded(self) -> ClassifiedError | None:
        for name, key in self.plain.items():
            sure = name in CODE_KEYS
            code = error_code(self.body[key]) if sure or name in PLAIN_CODE_KEYS else None
            if code is not None and (
                not self.content or (sure and not self._reads) or (self.explained and (sure or not self._is_record))
            ):
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
                if any(_has_data(value) for other, value in self.body.items() if other in ENVELOPES):
                    return ClassifiedError("partial", words_of(self.body, said), pointer_to(key))
            if not self._is_record or _code_in(self.body) is not None:
                return self._told(key, said)
        return None

    def _is_error_value(self, said: Any) -> bool:
        """Tell an error from a number about errors, such as an error rate, and from what says that there is none."""
        match said:
            case str():
                return bool(said.strip()) and said.strip().lower() not in NO_ERROR
            case bool():
                return said
            case dict():
                codes = PLAIN_CODE_KEYS | CODE_KEYS
                return any(
                    value not in EMPTY_VALUES and (not isinstance(value, int | float) or plain_key(key) in codes)
                    for key, value in said.items()
                )
            case list():
                return any(isinstance(item, str | dict) and item for item in said)
            case int():
                told = (self.body[key] for name, key in self.plain.items() if name in MESSAGE_KEYS)
                return said != 0 and any(isinstance(words, str) for words in told)
        return False

    def _flagged(self) -> ClassifiedError | None:
        for name in ("success", "ok", "succeeded", "successful"):
            key = self.plain.get(name)
            if key is not None and (self.body[key] is False or self.body[key] == "false") and not self._is_record:
                return self._told(key, None)
        for name in STATUS_KEYS & self.plain.keys():
            key = self.plain[name]
            word = plain_key(self.body[key]) if isinstance(self.body[key], str) else ""
            is_failure = word in FAILURE_WORDS or word.endswith(("error", "exception"))
            is_state = word in FAILURE_WORDS - SURE_FAILURES and self._reads and self.content
            told = self.explained or (word == "error" and not self.content)
            if is_failure and told and not is_state and not self._is_record:
                return self._told(key, None)
        code, stderr = self.plain.get("exitcode") or self.plain.get("returncode"), self.plain.get("stderr")
        if (
            code
            and stderr
            and self.body[code] not in EMPTY_VALUES
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
        words, own = words_of(self.body, None), str(self.body[code])[:20]
        error_class = class_of_words(words)
        if own in ("0", "200") or (error_class == "unknown" and not _OWN_CODE.fullmatch(own)):
            return None
        return ClassifiedError(error_class, words, pointer_to(message))

    def _worded(self) -> ClassifiedError | None:
        """Nothing but a message, which reads as an error does."""
        said = (key for name, key in self.plain.items() if name in MESSAGE_KEYS and name != "title")
        key = next((key for key in said if isinstance(self.body[key], str)), None)
        if key is None or self.content:
            return None
        told = trouble_in_text(self.body[key], is_error=False, about_faults=self.call_facts.about_faults)
        if told is None or told.error_class in ("empty", "partial"):
            return None
        return told._replace(pointer=pointer_to(key))


def _code_in(body: Mapping[str, Any]) -> int | None:
    codes = (error_code(value) for key, value in body.items() if plain_key(key) in CODE_KEYS | PLAIN_CODE_KEYS)
    return next((code for code in codes if code is not None), None)


def words_of(body: Mapping[str, Any], said: Any) -> str:
    """Return what an object says of its error, in the order in which it says it."""
    told = [part[:_LONGEST] for holder in (said, body) for part in _texts(holder, 2) if part]
    return " ".join(dict.fromkeys(told))[: 2 * _LONGEST]


def _texts(holder: Any, depth: int) -> Iterator[str]:
    if isinstance(holder, str):
        yield holder
    elif isinstance(holder, list):
        for item in holder[:3]:
            yield from _texts(item, depth)
    elif isinstance(holder, dict) and depth >= 0:
        for key, value in list(holder.items())[:_MOST_MEMBERS]:
            if is_error_key(plain_key(key)) or plain_key(key) in _TOLD:
                yield from _texts(value, depth - 1)


def _has_data(value: Any) -> bool:
    """Tell whether a value holds anything but nulls and empty text, at any depth."""
    if isinstance(value, dict | list):
        return any(map(_has_data, value.values() if isinstance(value, dict) else value))
    return value is not None and value != ""
