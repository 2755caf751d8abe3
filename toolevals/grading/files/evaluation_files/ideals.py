"""Reads ideal answers: calls as JSON or as text of one, or words that are expected in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolevals.grading.files.evaluation_files.entries import accepted, expected_words
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.reading.parsing.json_calls import calls_in_json
from toolevals.grading.values import Call, Expectation
from toolevals.grading.values.problems import InvalidDocument


def ideal_expectation(ideal: Any, pointer: str = "/ideal") -> tuple[Expectation, bool]:
    """Return what an ideal answer, or any of a list of them, expects, and whether that is words without a call.

    A list of calls is one answer that makes all of them. Raises InvalidDocument where calls and words are mixed.
    """
    if not isinstance(ideal, str) and (calls := calls_in_json(ideal)) is not None:
        return accepted([calls], pointer), False
    several = ideal if isinstance(ideal, list) else [ideal]
    read = [_answer(each, f"{pointer}/{place}" if several is ideal else pointer) for place, each in enumerate(several)]
    calls_only = [calls for calls in read if not isinstance(calls, str)]
    if len(calls_only) == len(read):
        return accepted(calls_only, pointer), False
    if calls_only:
        raise InvalidDocument.at(pointer, "some of the answers are calls and some are words: an example expects one")
    return expected_words([text for text in read if isinstance(text, str)]), True


def _answer(value: Any, pointer: str) -> Sequence[Call] | str:
    if isinstance(value, str) and value:
        return calls_in_text(value) or value
    calls = None if isinstance(value, str) else calls_in_json(value)
    if not calls:
        raise InvalidDocument.at(pointer, "is neither text nor a call with name and arguments")
    return calls
