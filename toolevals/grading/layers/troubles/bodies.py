"""Finds trouble in a JSON answer: an error, failed parts, or nothing in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.layers.troubles.classes import ClassifiedError, ErrorClass, class_of_words, http_code
from toolevals.grading.layers.troubles.errors import Errors, words_of
from toolevals.grading.layers.troubles.keys import (
    CODE_KEYS,
    EMPTY_VALUES,
    ENVELOPES,
    FAILED_PARTS,
    NEXT_PAGE,
    NO_ERROR,
    PARTIAL_KEYS,
    PARTIAL_WORDS,
    PLAIN_CODE_KEYS,
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
    writes = call_facts.effect == "writes"
    for name, key in plain.items():
        value = body[key]
        if (
            (name in PARTIAL_KEYS and value is True and not has_next)
            or (name in ("status", "result") and isinstance(value, str) and plain_key(value) in PARTIAL_WORDS)
            or (name in CODE_KEYS | PLAIN_CODE_KEYS and http_code(value) in (206, 207))
            or (name in ("shards", "timedout") and (value is True or (isinstance(value, dict) and value.get("failed"))))
        ):
            return ClassifiedError("partial", f"{key}: {value}"[:200], pointer_to(key))
        some_failed = name in FAILED_PARTS and _counts(value) and not call_facts.about_faults
        if some_failed and (writes or (isinstance(value, list) and name in ("notfound", "unavailable", "failed"))):
            went_well = any(other != key and _counts(worth) for other, worth in body.items())
            words = words_of({}, value) if isinstance(value, list) else ""
            error_class: ErrorClass = "partial" if went_well else class_of_words(words)
            return ClassifiedError(error_class, words or f"{key}: {value}"[:200], pointer_to(key))
        if isinstance(value, list) and not is_error_key(name) and (found := _failed_elements(value, call_facts, key)):
            return found
    return None


def _counts(value: Any) -> bool:
    return (type(value) is int and value > 0) or (isinstance(value, list) and bool(value))


def _failed_elements(rows: list[Any], call_facts: CallFacts, key: str) -> ClassifiedError | None:
    """Return what is wrong where elements of a batch failed: `partial`, or the first one's class where all did."""
    objects = [(place, row) for place, row in enumerate(rows) if isinstance(row, dict)]
    if call_facts.about_faults:
        return None
    failed = [
        (place, found)
        for place, row in objects
        if (found := Errors(row, call_facts).found(is_element=True)) is not None
    ]
    if not failed:
        return None
    place, found = failed[0]
    error_class: ErrorClass = found.error_class if len(failed) == len(rows) else "partial"
    return ClassifiedError(error_class, found.words, f"{pointer_to(key) if key else ''}/{place}{found.pointer}")


def _empty_list(rows: list[Any], call_facts: CallFacts) -> ClassifiedError | None:
    if call_facts.about_faults or not all(item in EMPTY_VALUES for item in rows):
        return None
    return ClassifiedError("empty", str(rows)[:200])


def _empty_object(body: Body, call_facts: CallFacts) -> ClassifiedError | None:
    """Return `empty` where all that could hold something is empty: `{}`, `{"results": [], "total": 0}`."""
    if call_facts.about_faults:
        return None
    empty = None if body else "{}"
    for key, value in body.items():
        plain = plain_key(key)
        is_quiet = plain in QUIET_KEYS or isinstance(value, bool) or call_facts.echoes(value)
        if is_quiet or is_error_key(plain) or (isinstance(value, str) and plain_key(value) in NO_ERROR):
            continue
        if value not in EMPTY_VALUES or about_faults(words_of_name(key)):
            return None
        if value is None or isinstance(value, dict | list):
            empty = empty or key
    if empty is None:
        return None
    return ClassifiedError("empty", f"{empty}: {body[empty]}" if body else empty, pointer_to(empty) if body else "")
