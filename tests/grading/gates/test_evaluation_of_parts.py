"""Bounds that hold for each tool or each value of a stratum."""

from dataclasses import replace

import pytest

from tests.grading.gates.answering import answer, only_check
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.results import GateCase
from toolevals.grading.metrics.rates import Interval

TOOLS = [GateCase(f"a{i}", {"selection": i > 0}, tool="a", called="a" if i else "b") for i in range(10)] + [
    GateCase(f"b{i}", {"selection": 1.0}, tool="b", called="b", strata={"difficulty": "hard"}) for i in range(10)
]


def test_a_bound_can_hold_for_each_tool():
    result = answer({"bounds": [{"metric": "selection", "min": 0.95, "per": "tool"}]}, TOOLS)
    assert [(check.name, check.status) for check in result.checks] == [
        ("selection pass_rate (tool a)", "failed"),
        ("selection pass_rate (tool b)", "passed"),
    ]
    eased = {"bounds": [{"metric": "selection", "min": 0.95, "per": "tool", "overrides": {"a": 0.9, "gone": 0.1}}]}
    assert [check.status for check in answer(eased, TOOLS).checks] == ["passed", "passed", "unanswered"]


@pytest.mark.parametrize(
    ("statistic", "of_a", "of_b"), [("precision", 1, 10 / 11), ("recall", 0.9, 1), ("f1", 18 / 19, 20 / 21)]
)
def test_each_tools_own_rates(statistic, of_a, of_b):
    document = {"bounds": [{"metric": "selection", "statistic": statistic, "min": 0.9, "per": "tool"}]}
    first, second = answer(document, TOOLS).checks
    assert (first.observed, second.observed) == (of_a, of_b)
    assert first.interval is not None
    assert first.interval.low <= of_a <= first.interval.high
    unknown = [*TOOLS, *(GateCase(f"c{i}", {"selection": None}, tool="a") for i in range(9))]
    assert {check.status for check in answer(document, unknown).checks} <= {"unanswered", "failed", "passed"}
    assert answer(document, unknown).checks[1 if statistic == "precision" else 0].status == "unanswered"


def test_a_bound_can_hold_for_each_value_of_a_stratum_or_for_one():
    each = answer({"bounds": [{"metric": "selection", "min": 0.9, "per_stratum": "difficulty"}]}, TOOLS)
    assert [(check.name, check.count) for check in each.checks] == [("selection pass_rate (difficulty hard)", 10)]
    one = only_check({"bounds": [{"metric": "selection", "max": 0.5, "where": {"difficulty": "hard"}}]}, TOOLS)
    assert (one.name, one.status) == ("selection pass_rate (difficulty hard)", "failed")
    assert (
        only_check({"bounds": [{"metric": "selection", "min": 0.9, "per_stratum": "no"}]}, TOOLS).status == "unanswered"
    )


@pytest.mark.parametrize("statistic", ["precision", "recall", "f1"])
def test_a_tools_rate_on_one_case_has_no_certain_interval(statistic):
    document = {
        "bounds": [{"metric": "selection", "statistic": statistic, "min": 0.9, "per": "tool", "decide_by": "interval"}]
    }
    check = only_check(document, [GateCase("e", {"selection": 1.0}, tool="a", called="a")])
    assert (check.observed, check.interval, check.status) == (1.0, Interval(0.0, 1.0), "unanswered")


def test_a_tools_rate_over_several_trials_has_an_interval_by_examples():
    document = {"bounds": [{"metric": "selection", "statistic": "f1", "min": 0.9, "per": "tool"}]}
    one = [GateCase(f"e{i}", {"selection": 1.0}, tool="a", called="a" if i > 5 else "b") for i in range(60)]
    eight = [replace(case, trial=trial) for case in one for trial in range(8)]
    narrow, wide = (answer(document, cases).checks[0].interval for cases in (one, eight))
    assert narrow is not None
    assert wide is not None
    assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, rel=0.1)


def test_an_unscored_case_counts_under_the_tool_that_was_due():
    cases = [
        GateCase("a", {"selection": 1.0}, tool="pay", called="pay"),
        GateCase("b", {"selection": None}, tool="pay"),
    ]
    (check,) = evaluate_gate(read_gate({"bounds": [{"metric": "selection", "min": 1, "per": "tool"}]}), cases).checks
    assert (check.name, check.status, check.count) == ("selection pass_rate (tool pay)", "unanswered", 1)


def test_an_unscored_case_of_no_known_tool_is_not_forgotten():
    cases = [GateCase("a", {"selection": 1.0}, tool="pay", called="pay"), GateCase("b", {"selection": None})]
    result = evaluate_gate(read_gate({"bounds": [{"metric": "selection", "min": 0.1, "per": "tool"}]}), cases)
    assert {check.name: check.status for check in result.checks} == {
        "selection pass_rate (tool (not known))": "unanswered",
        "selection pass_rate (tool pay)": "passed",
    }
    assert result.status == "unanswered"
