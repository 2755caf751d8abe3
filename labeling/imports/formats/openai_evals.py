"""OpenAI Evals: `{"input": [messages] or text, "ideal": one answer or a list of which any will do}`.

Source: https://github.com/openai/evals (docs/build-eval.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolevals.grading.evaluation_files.entries import (
    WORDS_ONLY,
    accepted,
    entry,
    expected_words,
    external_id,
    messages_at,
    tools_at,
)
from labeling.imports.formats.settings import Settings
from toolevals.grading.examples import ExampleRow
from toolevals.grading.parsing.json_calls import calls_in_json
from toolevals.grading.parsing.text import calls_in_text
from toolevals.grading.problems import InvalidDocument, Problem
from toolevals.grading.values import Call, Expectation


def openai_evals_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one sample as an example; without `ideal` it is still to be labelled. Raises InvalidDocument.

    An ideal that is a call, as JSON or as text of one, is the expected call. Other text is expected in the answer.
    """
    row = entry(value)
    given = row.get("input")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else messages_at(given, "/input")
    tools, losses = tools_at(row, "tools")
    content = {"messages": messages}
    expectation, words = (None, False) if row.get("ideal") in (None, "", []) else ideal_expectation(row["ideal"])
    return ExampleRow(
        external_id=external_id(row.get("id"), "eval", [content, row.get("tools")]),
        input=content,
        tools=tools,
        expectation=expectation,
        losses=(*losses, Problem("/ideal", WORDS_ONLY)) if words else losses,
    )


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
