"""Values reach gates as they are; a published name is read from its judge; recovery is asked by what failed."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.gates.case_table import CaseTable, published_sources
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import Evidence, evaluate_gate, hold_gate
from toolevals.grading.gates.results import Check, Failure, GateCase
from toolevals.grading.values.problems import InvalidDocument


def case(name: str, metric: str, score: float | None, *, passed: bool = False, **rest: Any) -> GateCase:
    return GateCase(name, {metric: score}, passed={} if score is None else {metric: passed}, **rest)


def check(document: Any, cases: list[GateCase], before: list[GateCase] | None = None) -> Check:
    (only,) = evaluate_gate(read_gate(document), cases, before).checks
    return only


# Failed, and half right all the same.
HALF = [case("a", "recovery", 0.5), case("b", "recovery", 1.0, passed=True), case("c", "recovery", 0.75)]


@pytest.mark.parametrize(
    ("statistic", "observed"),
    [
        ("avg_score", 0.75),
        ("min_score", 0.5),
        ("p50_score", 0.75),
        ("max_score", 1.0),
        ("pass_rate", 1 / 3),
        ("failed_count", 2),
    ],
)
def test_means_are_of_values_and_rates_of_what_passed(statistic, observed):
    found = check({"bounds": [{"metric": "recovery", "statistic": statistic, "min": 0}]}, HALF)
    assert found.observed == pytest.approx(observed)


def test_an_assertion_asks_each_value():
    def asserted(words: str) -> Check:
        return check({"assertions": [f"trajectory_recovery.score {words} of cases"]}, HALF)

    assert asserted(">= 0.5 for at_least 100%").status == "passed"
    failed = asserted(">= 0.6 for at_least 100%")
    assert (failed.status, failed.examples) == ("failed", ("a",))


def test_what_failed_is_named_though_it_is_worth_more_than_half():
    assert check({"bounds": [{"metric": "recovery", "min": 1}]}, HALF).examples == ("a", "c")


def test_an_average_may_drop_by_parts_and_a_case_may_not():
    after = [case("a", "shape", 2 / 3), case("b", "shape", 1.0, passed=True)]
    before = [case(name, "shape", 1.0, passed=True) for name in "ab"]
    fell = check({"regressions": [{"rule": "averages", "metrics": ["shape"], "max_drop": 0.1}]}, after, before)
    assert fell.status == "failed"
    assert fell.observed == pytest.approx(-1 / 6)
    worse = check({"regressions": [{"rule": "cases", "metrics": ["shape"]}]}, after, before)
    assert (worse.status, worse.examples) == ("failed", ("a",))


def test_a_group_of_metrics_passes_by_what_passed():
    cases = [
        GateCase("a", {"schema": 1.0, "shape": 2 / 3}, passed={"schema": True, "shape": False}),
        GateCase("b", {"schema": 1.0, "shape": 1.0}, passed={"schema": True, "shape": True}),
    ]
    groups = [{"name": "form", "metrics": ["schema", "shape"], "aggregate": "minimum"}]
    assert check({"groups": groups, "bounds": [{"metric": "form", "min": 0.9}]}, cases).observed == 0.5
    mean = check({"groups": groups, "bounds": [{"metric": "form", "statistic": "avg_score", "min": 0.9}]}, cases)
    assert mean.observed == pytest.approx(5 / 6)


JUDGE = "judged:argument_semantics"
RULE_ONLY = [GateCase("a", {"equivalence": 0.0}), GateCase("b", {"equivalence": 1.0})]
JUDGED = [
    GateCase("a", {"equivalence": 0.0, JUDGE: 0.5}, passed={JUDGE: False}),
    GateCase("b", {"equivalence": 1.0, JUDGE: 1.0}, passed={JUDGE: True}),
]


@pytest.mark.parametrize("name", ["tool_args_semantic", "argument_semantics"])
def test_a_published_name_reads_its_judge_where_it_is_on_and_says_so(name):
    document = {"bounds": [{"metric": name, "statistic": "avg_score", "min": 0}]}
    by_rule, by_judge = check(document, RULE_ONLY), check(document, JUDGED)
    assert (by_rule.observed, by_rule.note) == (0.5, "Read from the rule equivalence: its judge was not asked.")
    assert (by_judge.observed, by_judge.note) == (0.75, "Read from the judge argument_semantics.")


@pytest.mark.parametrize("name", ["result_use", "result_groundedness"])
def test_an_unanswered_gate_on_the_use_of_results_names_its_judge(name):
    document = {"bounds": [{"metric": name, "min": 0.9}]}
    found = check(document, [case("a", "result_use", None), case("b", "result_use", None)])
    assert found.status == "unanswered"
    assert "the judge result_groundedness answers the rest" in found.note
    assert "judge" not in check({"bounds": [{"metric": "shape", "min": 0.9}]}, [case("a", "shape", None)]).note


def test_two_runs_are_read_from_the_same_source():
    document = {"regressions": [{"rule": "averages", "metrics": ["tool_args_semantic"]}]}
    assert check(document, JUDGED, RULE_ONLY).note.startswith("Read from the rule")
    assert check(document, JUDGED, JUDGED).note.startswith("Read from the judge")
    assert published_sources(CaseTable.of(JUDGED), None)["tool_args_semantic"] == JUDGE


def test_a_metric_of_a_whole_case_counts_only_where_it_is_named():
    cases = [GateCase("a", {"outcome": 1.0, "goal_progress": 0.1}, passed={"goal_progress": False})]
    found = evaluate_gate(read_gate({"thresholds": {"default_pass_rate": 0.9}}), cases)
    assert [each.metric for each in found.checks] == ["outcome"]
    assert check({"bounds": [{"metric": "goal_progress", "min": 0.9}]}, cases).status == "failed"


TIMEOUT, REFUSED = Failure("pay", "timeout", 1.0), Failure("pay", "403", 0.5)
FAILED = [
    GateCase("a", {"recovery": 0.75}, tool="book", failures=(TIMEOUT, REFUSED), strata={"difficulty": "hard"}),
    GateCase("b", {"recovery": 1.0}, tool="book", failures=(TIMEOUT,)),
    GateCase("c", {"recovery": 0.0}, tool="pay", failures=(Failure("book", "timeout", 0.0),)),
    GateCase("d", {"outcome": 1.0}, tool="pay"),
]


@pytest.mark.parametrize(
    ("per", "groups"),
    [
        ("tool", {"(failed tool book)": 0, "(failed tool pay)": 2 / 3}),
        ("error_class", {"(error class 403)": 0, "(error class timeout)": 2 / 3}),
        ("failure", {"(failure of book timeout)": 0, "(failure of pay 403)": 0, "(failure of pay timeout)": 1}),
    ],
)
def test_recovery_is_asked_by_what_failed(per, groups):
    gate = read_gate({"bounds": [{"metric": "recovery", "min": 0.5, "per": per}]})
    found = {each.name: each.observed for each in evaluate_gate(gate, FAILED).checks}
    assert found == {f"recovery pass_rate {group}": pytest.approx(share) for group, share in groups.items()}


def test_a_group_without_any_failure_is_not_asked():
    bound = {"metric": "trajectory_recovery", "min": 0.5, "per": "failure"}
    bound["overrides"] = {"pay timeout": 0.9, "refund 500": 0.9}
    found = {each.name: each for each in evaluate_gate(read_gate({"bounds": [bound]}), FAILED).checks}
    skipped = found["trajectory_recovery pass_rate (failure of refund 500)"]
    assert (skipped.status, skipped.reason) == ("skipped", "No tool failed so in this run: not asked.")
    asked = found["trajectory_recovery pass_rate (failure of pay timeout)"]
    assert (asked.status, asked.bound, asked.count) == ("passed", ">= 0.9", 2)
    assert "from the rule" in asked.note
    quiet = evaluate_gate(read_gate({"bounds": [bound]}), [FAILED[-1]])
    assert {each.status for each in quiet.checks} == {"skipped"}


def test_a_failure_that_the_rule_does_not_know_leaves_its_group_open():
    unknown = GateCase("x", {}, failures=(Failure("pay", "403", None), REFUSED._replace(score=1.0)))
    gate = read_gate({"bounds": [{"metric": "recovery", "min": 0.9, "per": "error_class"}]})
    found = evaluate_gate(gate, [unknown]).checks
    assert [(each.status, each.count) for each in found] == [("unanswered", 1)]


def test_failures_are_asked_in_some_strata_and_name_their_examples():
    bound = {"metric": "recovery", "min": 1, "per": "tool", "where": {"difficulty": "hard"}}
    found = check({"bounds": [bound]}, FAILED)
    assert (found.status, found.observed, found.count, found.examples) == ("failed", 0.5, 2, ("a",))


def test_cases_that_nobody_scored_keep_recovery_open():
    gate = read_gate({"bounds": [{"metric": "recovery", "min": 0.5, "per": "tool"}]})
    found = evaluate_gate(gate, [FAILED[1], GateCase("u", {"outcome": None, "recovery": None})])
    assert [each.status for each in found.checks] == ["unanswered", "passed"]


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ({"metric": "selection", "min": 1, "per": "failure"}, "is for failures of tools"),
        ({"metric": "recovery", "min": 1, "per": "error_class", "statistic": "runtime_avg"}, "not for what cases take"),
        ({"metric": "recovery", "min": 1, "per": "model"}, "per"),
    ],
)
def test_what_cannot_be_asked_by_failure_is_refused(bound, said):
    with pytest.raises(InvalidDocument, match=said):
        read_gate({"bounds": [bound]})


def test_the_slice_is_named():
    gate = read_gate({"consistency": [{"min": 0.5, "k": 1}]})
    cases = CaseTable.of([GateCase("a", {"outcome": 1.0})])
    evidence = Evidence(cases, None, cases, release_candidate=True, consistency_name="run 7 of agent")
    (found,) = hold_gate(gate, evidence).checks
    assert found.note == "The slice: run 7 of agent."
