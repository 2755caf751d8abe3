"""Preconditions are proposed from conversations that went well: who came before whom, and how surely."""

from __future__ import annotations

import pytest

from toolevals.grading.guard.preconditions import OrderedCall, called_before, learnt_preconditions
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values.tools import reads_by_name


def writes(tool: str) -> bool:
    return not reads_by_name(tool)


def before(*calls: str | OrderedCall) -> dict[str, frozenset[str]]:
    return called_before([OrderedCall(each) if isinstance(each, str) else each for each in calls], writes)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (("get_order", "cancel_order"), {"cancel_order": {"get_order"}}),
        (("cancel_order", "get_order"), {"cancel_order": set()}),
        # Reads need nothing.
        (("get_user", "get_order"), {}),
        # What came before each call of a tool, not before one of them.
        (("cancel_order", "get_order", "cancel_order"), {"cancel_order": set()}),
        (("get_order", "cancel_order", "get_user", "cancel_order"), {"cancel_order": {"get_order"}}),
        # A call that failed was not made, and needs nothing.
        ((OrderedCall("get_order", failed=True), "cancel_order"), {"cancel_order": set()}),
        ((OrderedCall("cancel_order", failed=True), "get_order", "cancel_order"), {"cancel_order": {"get_order"}}),
        # What came before a call without a place is not known; what comes after has it before.
        (
            ("get_order", OrderedCall("cancel_order", is_placed=False), "send_mail"),
            {"send_mail": {"get_order", "cancel_order"}},
        ),
    ],
)
def test_what_came_before_every_call(calls, expected):
    assert before(*calls) == {tool: frozenset(names) for tool, names in expected.items()}


def test_pairs_are_ordered_by_the_lower_end_and_those_that_are_not_sure_are_left_out():
    sure, rarer = before("get_order", "cancel_order"), before("get_user", "send_mail")
    traces = [sure] * 20 + [rarer] * 6 + [before("get_order", "issue_refund")] * 4
    traces += [before("get_user", "get_order", "change_order")] * 6 + [before("get_order", "change_order")] * 6
    found = learnt_preconditions([], traces)
    assert [(each.after, each.tool) for each in found] == [
        ("get_order", "cancel_order"),
        ("get_order", "change_order"),
        ("get_user", "send_mail"),
    ]
    assert (found[0].best, found[0].best.interval) == ((20, 20), wilson(20, 20))
    assert found[0].gold == (0, 0)


def test_gold_and_traces_are_counted_apart():
    gold = [before("cancel_order")] * 30
    traces = [before("get_order", "cancel_order")] * 10
    (found,) = learnt_preconditions(gold, traces)
    assert (found.gold, found.traces, found.best) == ((30, 0), (10, 10), (10, 10))


def test_a_conversation_of_very_many_tools_is_read_in_bounded_time():
    found = before(*(f"set_{number}" for number in range(3_000)))
    assert max(map(len, found.values())) == 200
