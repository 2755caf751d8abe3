"""Test which calls stand for expected ones that were not made, where other calls are allowed and where not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from tests.grading.graded import GARBLED, expecting, graded
from toolevals.grading.alignment.trajectory import align
from toolevals.grading.engine.compiled import compile_case
from toolevals.grading.engine.selection import _Evidence, has_stand_in, stand_ins
from toolevals.grading.values import CallExpectation, Expectation, ToolCall, ToolSpec, Trajectory
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.tools import ToolAnnotations
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

NAMES = ("get_user", "get_order", "cancel_order", "refund_order", "transfer_to_human", "think_it_over", "zap")
TOOLS = tuple(ToolSpec(name, input_schema={"type": "object"}) for name in NAMES)


def due(name: str, **arguments: object) -> CallExpectation:
    return CallExpectation(name, {key: Exact(value) for key, value in arguments.items()})


CANCEL = due("cancel_order", order="W-1")


def beside(wanted: Expectation, *calls: ToolCall) -> tuple[str, list[tuple[str, str]], tuple[str, str]]:
    """Return the mode, the pairs with an expected call, and the place in the matrix of first calls."""
    found = graded(wanted, *calls, tools=TOOLS)
    return (
        found.mode,
        [(each.expected, each.actual) for each in found.pairs if each.expected != NONE],
        (
            found.expected,
            found.actual,
        ),
    )


@pytest.mark.parametrize(
    ("wanted", "calls", "mode", "actual"),
    [
        # A look-up on the way is no attempt at a write, and a write none at a look-up.
        (CANCEL, [ToolCall("get_user", {"user": "u1"}), ToolCall("get_order", {"order": "W-1"})], "missed_call", NONE),
        (CANCEL, [ToolCall("get_order", {"order": "W-1"})], "missed_call", NONE),
        (due("get_order", order="W-1"), [ToolCall("cancel_order", {"order": "W-1"})], "missed_call", NONE),
        # Another write is, of the same thing or not; the one of the same thing comes first.
        (CANCEL, [ToolCall("get_user", {}), ToolCall("refund_order", {})], "wrong_tool", "refund_order"),
        (CANCEL, [ToolCall("transfer_to_human", {}), ToolCall("refund_order", {"order": "w-1"})], "wrong_tool",
         "refund_order"),
        # Of look-ups those with a value in common; the only call stands for the only one that is expected.
        (due("get_user", user="u1"), [ToolCall("get_order", {"order": "W-7"}), ToolCall("get_order", {"user": "u1"})],
         "wrong_tool", "get_order"),
        (due("get_user", user="u1"), [ToolCall("think_it_over", {}), ToolCall("get_order", {"order": "W-7"})],
         "missed_call", NONE),
        (due("get_user", user="u1"), [ToolCall("get_order", {"order": "W-7"})], "wrong_tool", "get_order"),
        # A tool of which nobody knows what it does.
        (CANCEL, [ToolCall("get_user", {}), ToolCall("zap", {"order": "W-1"})], "wrong_tool", "zap"),
        (CANCEL, [ToolCall("get_user", {}), ToolCall("zap", {})], "missed_call", NONE),
        # What is wrong by itself is allowed beside nothing.
        (CANCEL, [ToolCall("get_user", {}), ToolCall("lookup", {})], "hallucinated_tool", UNKNOWN_TOOL),
        (CANCEL, [ToolCall("get_user", {}), GARBLED], "malformed_output", UNPARSED),
    ],
)  # fmt: skip
def test_where_other_calls_are_allowed_something_speaks_for_a_pair(wanted, calls, mode, actual):
    for expectation in (expecting(wanted), expecting(unordered=(wanted,))):
        assert beside(expectation, *calls) == (mode, [(wanted.tool, actual)], (wanted.tool, actual))


def test_in_an_order_the_only_call_between_the_neighbours_stands_for_what_is_missing():
    user, order, think = due("get_user"), due("get_order", order="W-1"), due("think_it_over")
    in_order = expecting(user, order, think)
    made = ToolCall("get_user", {}), ToolCall("get_user", {"again": True}), ToolCall("think_it_over", {})
    assert beside(in_order, *made)[1] == [(name, name) for name in ("get_user",)] + [
        ("get_order", "get_user"),
        ("think_it_over", "think_it_over"),
    ]
    more = *made[:2], ToolCall("get_user", {"again": True}), made[2]
    assert ("get_order", NONE) in beside(in_order, *more)[1]


def test_where_no_other_calls_are_allowed_the_first_stands_for_the_first():
    closed = expecting(CANCEL, additional_calls=False)
    calls = ToolCall("get_user", {}), ToolCall("refund_order", {"order": "W-1"})
    assert beside(closed, *calls) == ("wrong_tool", [("cancel_order", "get_user")], ("cancel_order", "get_user"))


def test_an_owner_s_word_on_a_tool_comes_before_its_name():
    tools = (*TOOLS[:2], ToolSpec("cancel_order"), ToolSpec("zap", annotations=ToolAnnotations(read_only=True)))
    found = graded(expecting(CANCEL), ToolCall("get_user", {}), ToolCall("zap", {"order": "W-1"}), tools=tools)
    assert (found.mode, found.expected, found.actual) == ("missed_call", "cancel_order", NONE)


def test_the_reason_names_only_what_stands_for_the_missing_call():
    calls = ToolCall("get_user", {}), ToolCall("refund_order", {"order": "W-1"})
    found = graded(expecting(CANCEL), *calls, tools=TOOLS)
    assert found.outcome.reason == "cancel_order was expected; refund_order was called."
    assert (
        graded(expecting(CANCEL), calls[0], tools=TOOLS).outcome.reason == "cancel_order was expected, and not called."
    )


_CALLS = st.builds(
    ToolCall, st.sampled_from(NAMES), st.dictionaries(st.sampled_from("ab"), st.sampled_from(["u1", "W-1", 10, 2]))
)
_DUE = st.lists(_CALLS, max_size=3).map(lambda calls: tuple(due(call.name, **call.arguments) for call in calls))


@given(_DUE, _DUE, st.lists(_CALLS, max_size=4))
def test_no_choice_of_stand_ins_has_more_that_speaks_for_it(ordered, unordered, calls):
    expectation = Expectation("calls", alternatives=(Trajectory(ordered, unordered),))
    compiled = compile_case(expectation, TOOLS)
    alignment = align(compiled.trajectories[0], calls, compiled.profile)
    evidence = _Evidence(alignment, calls, compiled.offer)
    chosen = stand_ins(alignment, calls, compiled.offer)
    missing, over = alignment.unmatched_expected, alignment.unmatched_actual
    assert len({actual for _, actual in chosen}) == len(chosen)
    assert all(evidence.weight(*pair) for pair in chosen)
    assert bool(chosen) is has_stand_in(alignment, calls, compiled.offer)
    every = itertools.permutations([*over, *[None] * len(missing)], len(missing))
    most = max(
        sum(evidence.weight(due, done) for due, done in zip(missing, each, strict=True) if done is not None)
        for each in every
    )
    assert sum(evidence.weight(*pair) for pair in chosen) == most


@given(strategies.expectations, strategies.transcripts)
def test_every_expected_and_every_made_call_stands_in_one_pair(expectation, transcript):
    found = graded(expectation, *transcript.calls)
    if expectation.kind == "calls" and found.statuses["selection"] == "failed":
        assert sum(pair.actual != NONE for pair in found.pairs) == len(transcript.calls)
