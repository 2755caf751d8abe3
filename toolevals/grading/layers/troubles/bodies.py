"""Finds trouble in a JSON answer: an error, failed parts, or nothing in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.layers.troubles.classes import ClassifiedError, ErrorClass, class_of_words, http_code
from toolevals.grading.layers.troubles.errors import Errors, words_of
from toolevals.grading.layers.troubles.keys import (
    EMPTY_VALUES,
    ENVELOPES,
    FAILED_PARTS,
    MESSAGE_KEYS,
    NEXT_PAGE,
    NO_ERROR,
    PARTIAL_KEYS,
    PARTIAL_WORDS,
    QUIET_KEYS,
    CallFacts,
    about_faults,
    is_error_key,
    plain_key,
    pointer_to,
)
from toolevals.grading.layers.troubles.texts import trouble_in_text
from toolevals.grading.values.effects_by_name import words_of_name

Body = dict[str, Any]


def trouble_in_body(body: Body | list[Any], call_facts: CallFacts, *, is_error: bool = False) -> ClassifiedError | None:
    """Return what is wrong with a JSON answer; None where nothing is."""
    if (blocks := _text_blocks(body)) is not None:
        flagged = is_error or (isinstance(body, dict) and body.get("isError") is True)
        text = "\n".join(blocks)
        return (
            trouble_in_text(text, is_error=flagged, about_faults=call_facts.about_faults) if text or flagged else None
        )
    if isinstance(body, list):
        return _failed_elements(body, call_facts, "") or _empty_list(body, call_facts)
    return _in_object(body, call_facts, nested=False)


def _text_blocks(body: Body | list[Any]) -> list[str] | None:
    """Return the texts of an MCP result or of content blocks, None of all else."""
    blocks = body.get("content") if isinstance(body, dict) else body
    if not isinstance(blocks, list) or not blocks or (isinstance(body, dict) and len(body) > 4):
        return None
    texts = [block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text"
             and isinstance(block.get("text"), str)]  # fmt: skip
    return texts if len(texts) == len(blocks) else None


def _in_object(body: Body, call_facts: CallFacts, *, nested: bool) -> ClassifiedError | None:
    errors = Errors(body, call_facts)
    if (found := errors.found() or _partial(body, errors.plain, call_facts)) is not None:
        return found
    for key in () if nested else ENVELOPES:
        inner = body.get(key)
        if isinstance(inner, dict) and (found := _in_object(inner, call_facts, nested=True)) is not None:
            others = (value for name, value in body.items() if name != key)
            if found.error_class == "empty" and any(isinstance(value, dict | list) and value for value in others):
                continue
            return found._replace(pointer=f"/{key}{found.pointer}")
    return None if nested and not body else _empty_object(body, call_facts)


def _partial(body: Body, plain: Mapping[str, str], call_facts: CallFacts) -> ClassifiedError | None:
    has_next = any(body[plain[name]] not in EMPTY_VALUES for name in NEXT_PAGE & plain.keys())
    for name, key in plain.items():
        value = body[key]
        if (name in PARTIAL_KEYS and value is True and not has_next) or (
            name in ("status", "result") and isinstance(value, str) and plain_key(value) in PARTIAL_WORDS
        ):
            return ClassifiedError("partial", f"{key}: {value}", pointer_to(key))
        if name in ("statuscode", "httpstatus", "status", "code") and http_code(value) in (206, 207):
            return ClassifiedError("partial", f"{key}: {value}", pointer_to(key))
        if name in ("shards", "timedout") and (value is True or (isinstance(value, dict) and value.get("failed"))):
            return ClassifiedError("partial", f"{key}: {value}"[:200], pointer_to(key))
        if (
            name in FAILED_PARTS
            and _counts(value)
            and not call_facts.about_faults
            and (
                call_facts.effect == "writes"
                or (isinstance(value, list) and name in ("notfound", "unavailable", "failed"))
            )
        ):
            return _with_failed_parts(body, key, value)
        if isinstance(value, list) and not is_error_key(name) and (found := _failed_elements(value, call_facts, key)):
            return found
    return None


def _counts(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool) and value > 0) or (
        isinstance(value, list) and bool(value)
    )


def _with_failed_parts(body: Body, key: str, value: Any) -> ClassifiedError:
    went_well = any(other != key and _counts(worth) for other, worth in body.items())
    words = words_of({}, value) if isinstance(value, list) else ""
    return ClassifiedError(
        "partial" if went_well else class_of_words(words), words or f"{key}: {value}"[:200], pointer_to(key)
    )


def _failed_elements(rows: list[Any], call_facts: CallFacts, key: str) -> ClassifiedError | None:
    """Return what is wrong where elements of a batch failed: `partial`, or the first one's class where all did."""
    if call_facts.about_faults:
        return None
    first: tuple[int, ClassifiedError] | None = None
    failed = objects = 0
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            continue
        objects += 1
        if (found := Errors(row, call_facts).found(is_element=True)) is not None:
            failed += 1
            first = first or (place, found)
    if first is None:
        return None
    place, found = first
    pointer = f"{pointer_to(key) if key else ''}/{place}{found.pointer}"
    error_class: ErrorClass = found.error_class if failed == objects == len(rows) else "partial"
    return ClassifiedError(error_class, found.words, pointer)


def _empty_list(rows: list[Any], call_facts: CallFacts) -> ClassifiedError | None:
    if call_facts.about_faults or not all(item in EMPTY_VALUES for item in rows):
        return None
    return ClassifiedError("empty", "[]" if not rows else str(rows)[:200])


def _empty_object(body: Body, call_facts: CallFacts) -> ClassifiedError | None:
    """Return `empty` where all that could hold something is empty: `{}`, `{"results": [], "total": 0}`."""
    if call_facts.about_faults:
        return None
    if not body:
        return ClassifiedError("empty", "{}")
    if body.get("found") is False and all(
        value in EMPTY_VALUES or call_facts.echoes(value) or plain_key(key) in MESSAGE_KEYS
        for key, value in body.items()
    ):
        return ClassifiedError("empty", "found: False", "/found")
    holders = {key: value for key, value in body.items() if isinstance(value, dict | list) or value is None}
    filled = [value for key, value in holders.items() if value and not _is_echo(value, call_facts)]
    empty = [
        key
        for key, value in holders.items()
        if not value and not (plain_key(key) in QUIET_KEYS or is_error_key(plain_key(key)))
    ]
    if filled or not empty or any(about_faults(words_of_name(key)) for key in empty):
        return None
    others = ((key, value) for key, value in body.items() if not isinstance(value, dict | list) and value is not None)
    quiet = all(
        isinstance(value, bool) or value in EMPTY_VALUES or call_facts.echoes(value)
        or plain_key(key) in QUIET_KEYS or (isinstance(value, str) and plain_key(value) in NO_ERROR)
        for key, value in others
    )  # fmt: skip
    return ClassifiedError("empty", f"{empty[0]}: {body[empty[0]]}", pointer_to(empty[0])) if quiet else None


def _is_echo(value: Any, call_facts: CallFacts) -> bool:
    return isinstance(value, dict) and all(
        call_facts.echoes(inner) or inner in EMPTY_VALUES for inner in value.values()
    )
