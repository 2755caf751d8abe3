"""The leaderboard's conversations of several turns, read: what is a call, what is left out, what is not evaluated."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.dialects.leaderboard_turns import category_of, turns_of
from toolevals.grading.dialects.rows import NoFormError


def read(step: Any) -> list[tuple[str, list[Any], dict[str, Any]]]:
    """Return the calls of a step."""
    row: dict[str, Any] = {"involved_classes": [], "initial_config": {}, "possible_answer": [[]]}
    return [
        (call["name"], call["positional"], call["named"])
        for steps in turns_of({**row, "prediction": [[step]]}).made
        for calls in steps
        for call in calls
    ]


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ("[cd(folder='a'), ls()]", [("cd", [], {"folder": "a"}), ("ls", [], {})]),
        ("cd(folder='a'), ls()", [("cd", [], {"folder": "a"}), ("ls", [], {})]),
        ("```[ls(a=True)]\n```", [("ls", [], {"a": True})]),
        # The original's decoder loses arguments without a name, and reads bare names as text.
        ("[cd('a')]", [("cd", [], {})]),
        ("[ls(a=true, b=[x, -1])]", [("ls", [], {"a": "true", "b": ["x", -1]})]),
        ("[ls(a={'b': 1})]", [("ls", [], {"a": {"b": 1}})]),
        ("[files.ls()]", [("files.ls", [], {})]),
        ("Here: [ls()]", []),
        ("[ls(), 3]", []),
        ("[ls()] [ls()]", []),
        ("[]", []),
        ("", []),
        ("\0", []),
        ([{"ls": '{"a": 1}'}, {"cd": {"folder": "a"}}], [("ls", [], {"a": 1}), ("cd", [], {"folder": "a"})]),
        ({"ls": {}}, [("ls", [], {})]),
        ([{"ls": {}}, {"cd": "folder"}], []),
        ([{"ls": {}}, 3], []),
        (["cd('a', b=1)"], [("cd", ["a"], {"b": 1})]),
        (["no call"], [("no call", [], {})]),
        (None, []),
    ],
)
def test_a_step_is_read_as_the_original_decodes_it(step, calls):
    assert read(step) == calls


@pytest.mark.parametrize(
    "step",
    [
        "[ls(a=1+1)]", "[ls(a=cd())]", "[ls(a=x[0])]", "[ls(a={'b': {'c': 1}})]", "[ls(a={})]", "[ls(a=+1)]",
        "[ls(a=(1, 2))]", "[ls(a=b'x')]", "[ls(**{'a': 1})]", "[ls(a={1: 2})]", "[ls(a=1e999)]", "[ls(a={*b})]",
        "[ls(a={**b})]", ["ls(*a)"], ["ls(a=true)"], ["ls(f'{a}')"],
    ],
)  # fmt: skip
def test_what_the_original_would_evaluate_or_misread_is_refused(step):
    with pytest.raises(NoFormError, match="nothing is evaluated here"):
        read(step)


@pytest.mark.parametrize(
    ("row", "category"),
    [
        ({"id": "multi_turn_base_12"}, "multi_turn_base"),
        ({"id": "multi_turn_base_12", "category": "multi_turn_miss_func"}, "multi_turn_miss_func"),
        ({"id": "memory_kv_3-customer-3"}, "memory_kv"),
        ({"id": "mine"}, ""),
        ({"id": 3}, ""),
        ([], ""),
    ],
)
def test_the_category_is_said_or_stands_in_the_id(row, category):
    assert category_of(row) == category
