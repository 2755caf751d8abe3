"""Rows of a file are read as if each were alone, whatever came before them."""

import gc
import json
from itertools import permutations
from typing import Any

import pytest

from toolevals.cli import grade_cases
from toolevals.cli.gate_files import gate_cases
from toolevals.cli.grade_cases import NativeGrading
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


def test_rows_leave_nothing_to_the_search_for_garbage():
    grading = NativeGrading(is_json=True)
    answers = [RIGHT, WRONG] * (grade_cases._MOST_EXAMPLES // 2)
    for place, answer in enumerate(answers):
        grading.read({**EXAMPLE, "id": str(place), **answer})
    gc.collect()
    try:
        gc.disable()
        for place in range(10):
            for each in (RIGHT, WRONG, RIGHT):
                assert grading.line(grading.read({**EXAMPLE, "id": f"more {place}", **each}))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_rows_of_other_code_are_each_looked_at():
    grading = NativeGrading()
    grading.read({**EXAMPLE, "tool_calls": [{"name": "track", "arguments": {"order": None}}]})
    with pytest.raises(InvalidDocument):
        grading.read({**EXAMPLE, "tool_calls": [{"name": "track", "arguments": {"order": float("nan")}}]})
