"""Trials of an example with the same answer are graded once, and each is told as if it were graded alone."""

import gc
import json
from itertools import permutations
from typing import Any

import pytest

from toolevals.cli import native_cases, native_grading
from toolevals.cli.gate_files import gate_cases
from toolevals.cli.native_cases import Case
from toolevals.cli.native_grading import NativeGrading
from toolevals.grading.values.problems import InvalidDocument

EXAMPLE = {
    "id": "a",
    "input": {"messages": [{"role": "user", "content": "Where is A-1?"}]},
    "expected_tool": "track",
    "expected_args": {"order": "A-1"},
    "strata": {"difficulty": "easy"},
}
RIGHT = {"tool_calls": [{"name": "track", "arguments": {"order": "A-1"}}]}
WRONG = {"tool_calls": [{"name": "track", "arguments": {"order": 1}}]}
TALK = {"messages": [{"role": "assistant", "content": "Here.", "refusal": "x"}]}
# OutcomePatterns but for what is said of the trial, or nearly alike.
ANSWERS: tuple[dict[str, Any], ...] = (
    {},
    {"trial": 1},
    {"latency_ms": None},
    {"latency_ms": 5},
    RIGHT,
    {**RIGHT, "trial": 1},
    {**RIGHT, "trial": 2.0},
    {**RIGHT, "trial": True},
    {**RIGHT, "trial": -1},
    {**RIGHT, "trial": 40_000},
    {**RIGHT, "trial": 2, "latency_ms": 12.5},
    {**RIGHT, "trial": 3, "latency_ms": None},
    {**RIGHT, "latency_ms": -1},
    {**RIGHT, "latency_ms": "soon"},
    {**RIGHT, "latency_ms": 10**30},
    WRONG,
    {"tool_calls": [{"name": "track", "arguments": {"order": 1.0}}]},
    {"tool_calls": [{"name": "track", "arguments": {"order": True}}]},
    {"tool_calls": [{"name": "track", "arguments": {"order": 10**30}}]},
    {**TALK, "trial": 4},
    {**TALK, "trial": 4, "latency_ms": 7},
    {"messages": {"messages": TALK["messages"], "latency_ms": 9}},
    {"messages": {"messages": TALK["messages"], "latency_ms": 9}, "latency_ms": 11},
    {**TALK, "trial": 5},
    {"error": "away", "trial": 6},
)


def told(grading: NativeGrading, answer: dict[str, Any]) -> tuple[object, ...]:
    row = json.loads(json.dumps({**EXAMPLE, **answer}))
    try:
        case = grading.read(row)
    except InvalidDocument as error:
        return ("refused", str(error))
    table = gate_cases([case])
    written = json.loads(grading.line(case))
    assert written == grading.document(case)
    assert list(written) == list(grading.document(case))
    read = grading.taken_readings()
    return (case, grading.line(case), grading.cells(case), table.kinds, table.names, table.taken, read)


def test_each_trial_is_told_as_if_it_were_alone():
    alone = [told(NativeGrading(is_json=True), answer) for answer in ANSWERS]
    together = NativeGrading(is_json=True)
    for _ in range(2):
        assert [told(together, answer) for answer in ANSWERS] == alone
    for first, second in permutations(range(len(ANSWERS)), 2):
        both = NativeGrading(is_json=True)
        assert [told(both, ANSWERS[each]) for each in (first, second)] == [alone[first], alone[second]]


def test_rows_that_are_read_together_are_read_as_if_each_were_alone():
    rows = [json.loads(json.dumps({**EXAMPLE, **answer})) for answer in (*ANSWERS, *ANSWERS)]
    alone = NativeGrading(is_json=True)
    each = [_case_or_error(alone, row) for row in rows]
    together = NativeGrading(is_json=True)
    read = [str(case) if isinstance(case, InvalidDocument) else case for case in together.read_all(rows)]
    assert read == each
    assert together.readings == alone.readings


def _case_or_error(grading: NativeGrading, row: dict[str, Any]) -> object:
    try:
        return grading.read(row)
    except InvalidDocument as error:
        return str(error)


def test_rows_leave_nothing_to_the_search_for_garbage():
    grading = NativeGrading(is_json=True)
    answers = [RIGHT, WRONG] * (native_grading._MOST_EXAMPLES // 2)
    grading.read_all([{**EXAMPLE, "id": str(place), **answer} for place, answer in enumerate(answers)])
    gc.collect()
    try:
        gc.disable()
        for place in range(10):
            for case in grading.read_all(
                [{**EXAMPLE, "id": f"more {place}", **each} for each in (RIGHT, WRONG, RIGHT)]
            ):
                assert isinstance(case, Case)
                assert grading.line(case)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_second_trial_with_the_same_answer_is_not_graded_again(monkeypatch):
    grading = NativeGrading(is_json=True)
    grading.read({**EXAMPLE, **RIGHT})
    monkeypatch.setattr(native_grading, "grade", None)
    assert grading.read({**EXAMPLE, **RIGHT, "trial": 1, "latency_ms": 3}).trial == 1
    with pytest.raises(TypeError):
        grading.read({**EXAMPLE, **WRONG})


def test_few_and_short_answers_are_kept():
    grading = NativeGrading(is_json=True)
    for place in range(20):
        order = "x" * 5_000 if place == 0 else str(place)
        grading.read({**EXAMPLE, "tool_calls": [{"name": "track", "arguments": {"order": order}}]})
    assert len(grading._example(EXAMPLE).answers) == native_cases.MOST_ANSWERS


def test_rows_of_other_code_are_each_looked_at():
    grading = NativeGrading()
    grading.read({**EXAMPLE, "tool_calls": [{"name": "track", "arguments": {"order": None}}]})
    with pytest.raises(InvalidDocument):
        grading.read({**EXAMPLE, "tool_calls": [{"name": "track", "arguments": {"order": float("nan")}}]})
