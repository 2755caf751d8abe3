from typing import Any

import pytest
from hypothesis import given, settings

from tests.grading.strategies import json_values
from toolevals.grading.gates.conditions import Condition
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.rules import Assertion, Bound, Gate, RegressionRule, Thresholds, UnscoredPolicy
from toolevals.grading.values.problems import InvalidDocument, Problem

DOCUMENT = {
    "bounds": [
        {"metric": "selection", "min": 0.9, "per": "tool", "overrides": {"b": 0.5}, "where": {"difficulty": "easy"}},
        {"metric": "latency", "statistic": "runtime_p95", "max": 800, "per_stratum": "bucket", "overrides": {"x": 900}},
        {"metric": "outcome", "statistic": "avg_score", "min": 0.2, "max": 0.8, "decide_by": "interval"},
    ],
    "assertions": [
        "tool_name_f1.score >= 0.95 for at_least 95% of cases",
        {"template": "selection", "conditions": ["pass_rate >= 0.85", "0.5 <= avg_score <= 1"], "on_fail": "warn"},
        {"global": True, "conditions": ["total_pass_rate > 0.5"]},
    ],
    "thresholds": {"default_pass_rate": 0.8, "overrides": {"shape": 0.97}, "fail_fast": True},
    "regressions": [{"rule": "cases", "metrics": ["outcome"], "most": 2}, {"rule": "paired", "metrics": ["a", "b"]}],
    "unscored": {"minimum_share": 0.9, "minimum_count": 30},
}


def test_a_document_is_read_whole():
    gate = read_gate(DOCUMENT)
    assert gate.bounds == (
        Bound(
            "selection",
            "pass_rate",
            Condition("pass_rate", ">=", 0.9),
            per_tool=True,
            overrides={"b": Condition("pass_rate", ">=", 0.5)},
            where={"difficulty": "easy"},
        ),
        Bound(
            "latency",
            "runtime_p95",
            Condition("runtime_p95", "<=", 800),
            per_stratum="bucket",
            overrides={"x": Condition("runtime_p95", "<=", 900)},
        ),
        Bound("outcome", "avg_score", Condition("avg_score", ">=", 0.2, 0.8), decide_by="interval"),
    )
    assert [str(each) for each in gate.case_assertions] == ["tool_name_f1.score >= 0.95 for at_least 95% of cases"]
    assert gate.assertions == (
        Assertion(
            "selection", (Condition("pass_rate", ">=", 0.85), Condition("avg_score", ">=", 0.5, 1)), on_fail="warn"
        ),
        Assertion(None, (Condition("total_pass_rate", ">", 0.5),)),
    )
    assert gate.thresholds == Thresholds(0.8, {"shape": 0.97}, fail_fast=True)
    assert gate.regressions == (
        RegressionRule("cases", ("outcome",), most=2),
        RegressionRule("paired", ("a", "b")),
    )
    grouped = read_gate(regression("cases", per="tool", overrides={"x": 3}, where={"bucket": "y"}, skip_below=4))
    assert grouped.regressions == (
        RegressionRule("cases", ("a",), per_tool=True, overrides={"x": 3}, where={"bucket": "y"}, skip_below=4),
    )
    assert grouped.strata == {"bucket"}
    assert gate.unscored == UnscoredPolicy(0.9, 30)


def regression(kind: str, **options: Any) -> dict[str, Any]:
    return {"regressions": [{"rule": kind, "metrics": ["a"], **options}]}


def test_what_is_left_out_has_its_default():
    assert read_gate({"thresholds": {}}) == Gate()


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "is empty: give bounds, assertions, thresholds or regressions"),
        ({"bounds": [{"metric": "a"}]}, "/bounds/0: needs min, max or both"),
        (
            {"bounds": [{"metric": "a", "min": 1, "statistic": "f1"}]},
            '/bounds/0: needs "per": "tool": precision, recall and f1 are each tool\'s own',
        ),
        (
            {"bounds": [{"metric": "a", "min": 1, "per": "tool", "per_stratum": "x"}]},
            "/bounds/0: takes per or per_stratum, not both",
        ),
        ({"bounds": [{"metric": "a", "min": 1, "max": 0.5}]}, "/bounds/0/min: is above max"),
        (
            {"bounds": [{"metric": "a", "min": 0, "max": 1, "per": "tool", "overrides": {"b": 1}}]},
            "/bounds/0/overrides: cannot be combined with both min and max",
        ),
        ({"assertions": ["a.score"]}, "/assertions/0: expected one of >= <= > < == !=, not the end at character 8"),
        (
            {"assertions": [{"template": "a", "conditions": ["pass_rate >= 1", "pass_rate >"]}]},
            "/assertions/0/conditions/1: expected a number, not the end at character 12",
        ),
        ({"assertions": [{"conditions": ["pass_rate > 1"]}]}, "/assertions/0: needs template (a metric) or global"),
        ({"assertions": [3]}, "/assertions/0: is text or an object with conditions"),
        ({"thresholds": {"default_pass_rate": 95}}, "/thresholds/default_pass_rate: "),
        ({"regressions": [{"rule": "feeling", "metrics": ["a"]}]}, "/regressions/0/rule: "),
        ({"unscored": {"minimum_share": 2}}, "/unscored/minimum_share: "),
        ({"bounds": [{"metric": "a", "min": 95}]}, "/bounds/0/min: is 95: pass_rate is a share from 0 to 1"),
        ({"bounds": [{"metric": "a", "min": 1, "overrides": {"x": 1}}]}, "/bounds/0/overrides: needs per"),
        (
            {"bounds": [{"metric": "a", "min": 1, "per": "tool", "overrides": {"x/y": 2}}]},
            "/bounds/0/overrides/x~1y: is 2",
        ),
        (
            {"assertions": ["a.score >= 2 for at_least 5% of cases"]},
            "/assertions/0: 2 is not between 0 and 1, as a score is at character 12",
        ),
        (
            {"assertions": [{"template": "a", "conditions": ["0 <= avg_score <= 85"]}]},
            "/assertions/0/conditions/0: 85 is not between 0 and 1, as avg_score is at character 19",
        ),
        (regression("paired", most=1), "/regressions/0/most: does not apply to the rule paired, only to cases"),
        (regression("cases", alpha=0.1), "/regressions/0/alpha: does not apply"),
        (regression("paired", per="tool", overrides={"x": 1}), "/regressions/0/overrides: does not apply"),
        (regression("cases", overrides={"x": 1}), "/regressions/0/overrides: needs per or per_stratum"),
        (regression("cases", skip_below=3), "/regressions/0/skip_below: needs per or per_stratum"),
        (regression("cases", per="tool", overrides={"x": 1.5}), "/regressions/0/overrides/x: is 1.5"),
        (regression("averages", per="tool", overrides={"x": 1.5}), "/regressions/0/overrides/x: is 1.5"),
        (regression("cases", per="tool", per_stratum="x"), "/regressions/0: takes per or per_stratum, not both"),
    ],
)
def test_faults_are_named_by_place(document, problem):
    with pytest.raises(InvalidDocument) as error:
        read_gate(document)
    assert any(str(each).startswith(problem) for each in error.value.problems), error.value.problems


def test_every_fault_is_named_at_once():
    with pytest.raises(InvalidDocument) as error:
        read_gate({"assertions": ["x", {"global": True, "conditions": ["y > 1", "z"]}]})
    places = [problem.pointer for problem in error.value.problems]
    assert places == ["/assertions/0", "/assertions/1/conditions/0", "/assertions/1/conditions/1"]


@given(json_values)
@settings(max_examples=60)
def test_any_json_is_read_or_refused(value):
    read: Gate | tuple[Problem, ...]
    for document in (value, {"bounds": [value]}, {"assertions": [value]}, {"regressions": value}):
        try:
            read = read_gate(document)
        except InvalidDocument as error:
            read = error.problems
        assert read
