"""Test what a list of steps holds and a transcript does not: each key that is not read is a loss by its name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.reading.parsing import read_run
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values.problems import InvalidDocument


def lost(document: Any) -> list[tuple[str, str, int]]:
    return sorted((loss.what, loss.first, loss.count) for loss in read_run(document).losses)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"tool": "get", "arguments": {"id": 1}, "result": "x"}], []),
        ([{"thought": "Look."}, {"thought": "Done.", "is_final": True}], []),
        (
            [{"tool": "get", "mood": "good", "step": 1}, {"tool": "get", "mood": "bad"}],
            [("unknown key mood", "/0/mood", 2)],
        ),
        (
            [{"tool": "get", "observation": "seen", "output": "other"}],
            [("output next to observation", "/0/output", 1)],
        ),
        ([{"tool": "get", "observation": "seen", "output": "seen"}], []),
        (
            [{"tool_calls": [{"name": "get", "arguments": {}, "cost": 3, "function": {"name": "get", "v": 2}}]}],
            [
                ("unknown key cost", "/0/tool_calls/0/cost", 1),
                ("unknown key v", "/0/tool_calls/0/function/v", 1),
            ],
        ),
        (
            [[{"tool": "get", "tool_input": {"id": 1}, "log": "I look."}, "seen"]],
            [("unknown key log", "/0/log", 1)],
        ),
        (
            {"goal": "x", "task": "y", "available_tools": ["get"], "steps": [], "seed": 4},
            [
                ("list of tools", "/available_tools", 1),
                ("unknown key seed", "/seed", 1),
            ],
        ),
        (
            {"task": "x", "question": "y", "trajectory": []},
            [("question next to task", "/question", 1)],
        ),
        (
            {"task": {"description": "x", "required_tools": ["get"]}, "trajectory": []},
            [("unknown key required_tools", "/task/required_tools", 1)],
        ),
        ([{"tool": "get", "mood": None, "note": ""}], []),
    ],
)
def test_each_key_that_is_not_read_is_named(document: Any, expected: list[tuple[str, str, int]]) -> None:
    assert lost(document) == expected


def test_what_looks_like_a_call_is_never_left_out() -> None:
    with pytest.raises(InvalidDocument, match=r"/0/function_call: looks like a call, and a list of steps has calls in"):
        read_run([{"function_call": {"name": "get", "arguments": "{}"}}])


def test_a_prediction_says_them_by_its_own_pointers() -> None:
    read = read_prediction({"id": "a", "steps": [{"tool": "get", "mood": "good"}]})
    assert [(loss.what, loss.first, loss.known) for loss in read.losses] == [
        ("unknown key mood", "/steps/0/mood", False)
    ]


keys = st.sampled_from(["tool", "arguments", "result", "output", "thought", "mood", "note", "x y/~", "error"])
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)


@given(st.dictionaries(keys, scalars, max_size=6))
def test_a_key_is_read_or_lost(step: dict[str, Any]) -> None:
    """Whatever a step holds under a key of no known name is counted."""
    values = {key: step.get(key) for key in ("mood", "note", "x y/~")}
    unknown = [key for key, value in values.items() if value is not None and value is not False and value != ""]
    found = {what for what, _, _ in lost([step]) if what.startswith("unknown key ")}
    assert found == {f"unknown key {key}" for key in unknown}
