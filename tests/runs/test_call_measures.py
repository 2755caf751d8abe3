"""Test what calls took, by hand-worked numbers: shares of steps, exact percentiles, nothing that was not recorded."""

from __future__ import annotations

from fractions import Fraction
from math import isclose
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.means import percentile
from toolevals.grading.values import Measures, Message, ToolCall, Transcript
from toolevals.runs.aggregates.tool_spending import (
    Amount,
    At,
    CallMeasure,
    CallsOfTool,
    Timing,
    ToolSpent,
    calls_measured,
    is_measured,
    tools_called,
)


def named(call):
    return call.name


def said(*names: str, **took):
    """Return a step of the model that makes these calls, each with its name as id."""
    calls = tuple(ToolCall(name.split(".")[0], {}, name) for name in names)
    return Message("assistant", calls=calls, measures=Measures(**took) if took else None)


def answered(call: str, latency_ms: float | None = None):
    took = None if latency_ms is None else Measures(latency_ms)
    return Message("tool", "{}", call_id=call, measures=took)


def test_a_step_of_several_calls_is_shared_equally_and_counts_once_for_each_tool():
    step = said("get.1", "get.2", "pay.1", latency_ms=900.0, usage={"input_tokens": 300, "output_tokens": 30}, cost=1.5)
    found = list(
        calls_measured(Transcript((step, answered("get.2", 40.0), answered("get.1"), answered("pay.1", 0.0))), named)
    )
    assert found == [
        CallMeasure("get", None, 900.0, 100, 10, 0.5),
        CallMeasure("get", 40.0, None, 100, 10, 0.5, begins=False),
        CallMeasure("pay", 0.0, 900.0, 100, 10, 0.5),
    ]


def test_what_is_not_recorded_is_none_and_not_nothing():
    steps = (said("get.1"), answered("get.1"), said("pay.1", usage={"input_tokens": 8}))
    assert list(calls_measured(Transcript(steps, usage={"input_tokens": 99}, latency_ms=5.0), named)) == [
        CallMeasure("get"),
        CallMeasure("pay", tokens_in=8),
    ]


def test_a_single_step_without_tools_took_what_the_conversation_took():
    alone = Transcript((said("get.1", "pay.1"),), usage={"input_tokens": 10, "output_tokens": 4}, latency_ms=50)
    assert list(calls_measured(alone, named)) == [
        CallMeasure("get", None, 50.0, 5, 2),
        CallMeasure("pay", None, 50.0, 5, 2),
    ]
    more = Transcript((*alone.messages, answered("get.1")), usage=alone.usage, latency_ms=50)
    assert list(calls_measured(more, named)) == [CallMeasure("get"), CallMeasure("pay")]


def test_prices_apply_where_tokens_are_told_and_no_cost_is_recorded():
    usage = {"input_tokens": 10, "output_tokens": 4}
    steps = (said("get.1", usage=usage), said("get.2", usage=usage, cost=7.0), said("get.3", usage={"input_tokens": 1}))
    found = calls_measured(Transcript(steps), named, lambda used: used["input_tokens"] + 2 * used["output_tokens"])
    assert [each.cost for each in found] == [18, 7, None]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1, True, "9", 10**400])
def test_what_is_no_measure_is_not_recorded(bad):
    step = said("get.1", latency_ms=bad, usage={"input_tokens": bad, "output_tokens": bad})
    assert list(calls_measured(Transcript((step,)), named)) == [CallMeasure("get")]


steps = st.builds(
    lambda names, tokens, cost: said(
        *(f"{name}.{place}" for place, name in enumerate(names)), usage={"input_tokens": tokens}, cost=cost
    ),
    st.lists(st.sampled_from(["get", "pay", "send"]), max_size=5),
    st.integers(0, 10**6),
    st.integers(0, 10**6).map(lambda cents: cents / 100),
)


@given(st.lists(steps, max_size=6))
def test_all_shares_together_are_what_the_steps_with_calls_took(taken):
    found = list(calls_measured(Transcript(tuple(taken)), named))
    with_calls = [step for step in taken if step.calls]
    for name, whole in (
        ("tokens_in", sum(step.measures.usage["input_tokens"] for step in with_calls)),
        ("cost", sum(Fraction(step.measures.cost) for step in with_calls)),
    ):
        assert isclose(sum(Fraction(getattr(each, name)) for each in found), whole, rel_tol=1e-12)


def test_where_nothing_was_measured_calls_are_counted_alike():
    quiet = Transcript((said("get.1", "get.2", "pay.1"), answered("get.1"), said("get.3"), said()))
    assert not is_measured(quiet)
    told = [(each.tool, each.begins) for each in calls_measured(quiet, named)]
    assert list(tools_called(quiet, named)) == told == [("get", True), ("get", False), ("pay", True), ("get", True)]


@pytest.mark.parametrize(
    "told",
    [
        Transcript((said("get.1", latency_ms=1.0),)),
        Transcript((said("get.1"), answered("get.1", 2.0))),
        Transcript((said("get.1"),), usage={"input_tokens": 1}),
        Transcript((said("get.1"),), latency_ms=0.0),
    ],
)
def test_whatever_says_what_it_took_is_measured(told):
    assert is_measured(told)


CASES = [UUID(int=number) for number in range(10)]


def collected(measured: list[CallMeasure]) -> CallsOfTool:
    calls = CallsOfTool()
    for each, case in zip(measured, CASES, strict=False):
        calls.add(each, case)
    return calls


def test_percentiles_and_their_cases_by_hand():
    # Five times: 10 20 30 40 110. Place of p50: 4 * .5 = 2, so 30. Of p95: 3.8, so 40 + .8 * 70 = 96. Of p99: 3.96.
    times = [40.0, 10.0, None, 110.0, 30.0, 20.0]
    found = collected([CallMeasure("get", time) for time in times]).spent("get")
    assert (found.calls, found.execution_ms.known) == (6, 5)
    assert found.execution_ms.p50 == At(30.0, str(CASES[4]))
    assert found.execution_ms.p95 == At(40 + 70 * (4 * 0.95 - 3), str(CASES[3]))
    assert found.execution_ms.p99 == At(40 + 70 * (4 * 0.99 - 3), str(CASES[3]))
    assert found.execution_ms.most == At(110.0, str(CASES[3]))
    assert found.step_ms == Timing()
    assert found.cost == Amount()


def test_sums_by_hand():
    found = collected([CallMeasure("get", cost=0.25), CallMeasure("get"), CallMeasure("get", cost=0.5, tokens_in=0.0)])
    spent = found.spent("get")
    assert spent.cost == Amount(2, 0.75, At(0.5, str(CASES[2])))
    assert spent.tokens_in == Amount(1, 0.0, At(0.0, str(CASES[2])))


numbers = st.none() | st.floats(0, 1e9, allow_subnormal=False)
measures = st.builds(CallMeasure, st.just("get"), numbers, numbers, numbers, numbers, numbers)


@given(st.lists(measures, max_size=10), st.integers(0, 10))
def test_batches_add_up_to_the_whole_to_the_last_digit(measured, cut):
    whole = collected(measured)
    parts = CallsOfTool()
    for part, cases in ((measured[:cut], CASES[:cut]), (measured[cut:], CASES[cut:])):
        calls = CallsOfTool()
        for each, case in zip(part, cases, strict=False):
            calls.add(each, case)
        parts.extend(*calls.packed())
    spent = parts.spent("get")
    assert spent == whole.spent("get")
    assert spent.calls == len(measured)
    assert ToolSpent.from_document("get", spent.calls, spent.steps, spent.to_document()) == spent
    for name in ("execution_ms", "step_ms"):
        known = [value for each in measured if (value := getattr(each, name)) is not None]
        timing = getattr(spent, name)
        assert timing.known == len(known)
        for share, at in ((0.5, timing.p50), (0.95, timing.p95), (0.99, timing.p99), (1, timing.most)):
            assert (None if at is None else at.value) == percentile(known, share)
            if at is not None:
                assert getattr(measured[CASES.index(UUID(at.case))], name) >= at.value * (1 - 1e-12)
