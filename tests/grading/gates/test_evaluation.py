import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.gates.answering import answer, only_check, scored
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.results import GateCase, GateResult
from toolevals.grading.gates.rules import DEFAULT_MINIMUMS, Gate, default_gate
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.values.documents import load_json


def test_the_default_gate_asks_for_the_published_rates():
    assert dict(DEFAULT_MINIMUMS) == {
        "tool_name_match": 0.95,
        "tool_args_shape_match": 0.97,
        "tool_args_semantic": 0.93,
    }
    cases = [GateCase(f"e{i}", {"selection": i > 4, "shape": i > 2, "equivalence": i > 6}) for i in range(100)]
    result = evaluate_gate(default_gate(), cases)
    assert result.status == "passed"
    assert [check.observed for check in result.checks] == [0.95, 0.97, 0.93]
    assert result.checks[0].interval == clustered_interval(ExampleSums.single(95, 100))
    assert evaluate_gate(default_gate({"tool_name_match": 0.96}), cases).status == "failed"
    with pytest.raises(ValueError):
        default_gate({"tool_name_match": 95})


def test_what_was_not_scored_never_passes():
    document = {
        "thresholds": {"overrides": {"selection": 0}},
        "assertions": ["selection.score >= 0 for at_least 0% of cases"],
    }
    for cases in ([], scored(None, None), scored(1.0, metric="shape")):
        result = answer(document, cases)
        assert result.status == "unanswered"
        assert all(check.status == "unanswered" and check.reason for check in result.checks)


def test_a_gate_without_a_check_is_unanswered():
    assert evaluate_gate(Gate(), scored(1.0)).status == "unanswered"
    assert answer({"thresholds": {"default_pass_rate": 0.5}}, []).status == "unanswered"


@pytest.mark.parametrize(
    ("passed", "failed", "unscored", "status"),
    [(96, 2, 2, "passed"), (96, 4, 2, "unanswered"), (94, 10, 2, "failed"), (0, 0, 5, "unanswered")],
)
def test_unscored_cases_are_taken_at_their_worst_and_best(passed, failed, unscored, status):
    cases = scored(*[1.0] * passed, *[0.0] * failed, *[None] * unscored)
    assert only_check({"bounds": [{"metric": "selection", "min": 0.95}]}, cases).status == status


def test_a_minimum_share_lets_the_scored_cases_decide():
    bound = [{"metric": "selection", "min": 0.95}]
    cases = scored(*[1.0] * 96, *[0.0] * 4, *[None] * 2)
    assert only_check({"bounds": bound, "unscored": {"minimum_share": 0.98}}, cases).status == "passed"
    check = only_check({"bounds": bound, "unscored": {"minimum_share": 0.99}}, cases)
    assert (check.status, check.reason) == ("unanswered", "Only 100 of 102 cases scored, and 99% are required.")
    check = only_check({"bounds": bound, "unscored": {"minimum_count": 101}}, cases)
    assert (check.status, check.reason) == ("unanswered", "Only 100 cases scored, and 101 are required.")


def test_an_assertion_counts_cases():
    text = "tool_name_f1.score >= 0.95 for at_least 95% of cases"
    cases = scored(*[1.0] * 95, *[0.9] * 5, metric="tool_name_f1")
    check = only_check({"assertions": [text]}, cases)
    assert (check.name, check.status, check.observed, check.count) == (text, "passed", 0.95, 100)
    check = only_check({"assertions": [text]}, scored(*[1.0] * 94, *[0.9] * 6, metric="tool_name_f1"))
    assert (check.status, check.reason) == (
        "failed",
        "It is 0.94 over 100 cases, not >= 0.95 in at least 95% of cases.",
    )


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("pass_rate >= 0.75", "passed"),
        ("pass_rate > 0.75", "failed"),
        ("avg_score == 0.6", "passed"),
        ("min_score >= 0.2", "passed"),
        ("max_score < 1", "failed"),
        ("failed_count <= 1", "passed"),
        ("passed_count != 3", "failed"),
        ("total_count == 4", "passed"),
        ("0.6 <= p50_score <= 0.7", "passed"),
        ("p90_score >= 0.88", "passed"),
        ("p95_score >= 0.96", "failed"),
        ("runtime_avg <= 25", "passed"),
        ("runtime_p95 <= 38.5", "passed"),
        ("total_pass_rate >= 0.75", "passed"),
    ],
)
def test_every_statistic_of_the_second_grammar(condition, status):
    scores = (0.2, 0.5, 0.7, 1.0)
    cases = [GateCase(f"e{i}", {"a": score}, runtime_ms=10.0 * (i + 1)) for i, score in enumerate(scores)]
    assert only_check({"assertions": [{"template": "a", "conditions": [condition]}]}, cases).status == status


def test_a_global_assertion_takes_all_metrics_together():
    cases = [GateCase("e", {"a": 1.0, "b": 0.0}), GateCase("f", {"a": 1.0, "b": 1.0})]
    assert (
        only_check({"assertions": [{"global": True, "conditions": ["total_pass_rate >= 0.75"]}]}, cases).observed
        == 0.75
    )


@pytest.mark.parametrize(
    ("on_fail", "check", "gate"),
    [("error", "failed", "failed"), ("warn", "warned", "warned"), ("skip", "skipped", "unanswered")],
)
def test_on_fail_says_what_a_failure_means(on_fail, check, gate):
    document = {"assertions": [{"template": "selection", "conditions": ["pass_rate >= 1"], "on_fail": on_fail}]}
    result = answer(document, scored(0.0))
    assert (result.checks[0].status, result.status) == (check, gate)
    assert answer(document, scored(1.0)).status == "passed"


def test_an_unanswered_check_is_no_warning_for_those_that_must_pass():
    document = {
        "thresholds": {"overrides": {"judge": 0.5}},
        "bounds": [{"metric": "selection", "min": 1, "on_fail": "warn"}],
    }
    assert answer(document, scored(0.0)).status == "unanswered"


def test_thresholds_ask_every_metric_and_some_more():
    cases = [GateCase("e", {"a": 1.0, "b": 0.0})]
    result = answer({"thresholds": {"default_pass_rate": 0.9, "overrides": {"b": 0.0, "c": 0.5}}}, cases)
    assert [(check.name, check.status) for check in result.checks] == [
        ("a pass_rate", "passed"),
        ("b pass_rate", "passed"),
        ("c pass_rate", "unanswered"),
    ]


def test_fail_fast_stops_at_the_first_failure():
    cases = [GateCase("e", {"a": 1.0, "b": 0.0, "c": 0.0})]
    result = answer({"thresholds": {"default_pass_rate": 0.9, "fail_fast": True}}, cases)
    assert ([check.status for check in result.checks], result.stopped) == (["passed", "failed"], True)


@pytest.mark.parametrize(("passed", "status"), [(50, "passed"), (48, "unanswered"), (30, "failed")])
def test_an_interval_can_decide(passed, status):
    document = {"bounds": [{"metric": "selection", "min": 0.9, "decide_by": "interval"}]}
    check = only_check(document, scored(*[1.0] * passed, *[0.0] * (50 - passed)))
    assert check.status == status
    assert check.reason or status == "passed"


@pytest.mark.parametrize("trials", [1, 2, 8])
def test_an_interval_of_few_examples_decides_nothing(trials):
    document = {"bounds": [{"metric": "selection", "min": 0.95, "decide_by": "interval"}]}
    for examples in (2, 19):
        cases = [GateCase(f"e{i}", {"selection": 1.0}, trial=trial) for i in range(examples) for trial in range(trials)]
        check = only_check(document, cases)
        assert check.status == "unanswered"
        assert f"{examples} of 20 examples" in check.reason
    few = {"bounds": [{"metric": "selection", "max": 0.5, "decide_by": "interval"}]}
    assert only_check(few, scored(*[1.0] * 19)).status == "unanswered"


def test_trials_of_one_example_widen_the_interval():
    single = scored(*[1.0] * 30, *[0.0] * 10)
    trials = [GateCase(f"e{i % 10}", {"selection": i % 10 < 7.5}, trial=i // 10) for i in range(40)]
    document = {"bounds": [{"metric": "selection", "min": 0.5}]}
    narrow, wide = (only_check(document, cases).interval for cases in (single, trials))
    assert narrow is not None
    assert wide is not None
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_a_result_is_json():
    result = answer({"bounds": [{"metric": "selection", "min": 0.9}]}, scored(1.0, 0.0))
    interval = clustered_interval(ExampleSums.single(1, 2))
    assert result.to_document() == {
        "status": "failed",
        "stopped": False,
        "checks": [
            {
                "name": "selection pass_rate",
                "status": "failed",
                "observed": 0.5,
                "count": 2,
                "interval": [interval.low, interval.high],
                "bound": ">= 0.9",
                "reason": "It is 0.5 over 2 cases, not >= 0.9.",
                "metric": "selection",
                "examples": ["e1"],
                "example_count": 1,
                "note": "",
            }
        ],
    }
    assert GateResult.from_document(load_json(json.dumps(result.to_document()))) == result
    assert [check.name for check in result.of_status("failed")] == ["selection pass_rate"]


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan"), float("inf")])
def test_a_score_is_between_0_and_1(score):
    with pytest.raises(ValueError):
        GateCase("e", {"a": score})


@pytest.mark.parametrize("runtime", [-1.0, float("nan"), float("inf")])
def test_a_runtime_is_a_time(runtime):
    with pytest.raises(ValueError):
        GateCase("e", {}, runtime_ms=runtime)


def test_runtimes_that_nobody_measured_are_left_out():
    cases = [GateCase("e", {"a": 1.0}, runtime_ms=5.0), GateCase("f", {"a": 1.0})]
    document = {"assertions": [{"template": "a", "conditions": ["runtime_avg <= 5"]}]}
    assert only_check(document, cases).status == "passed"
    assert only_check(document, cases[1:]).status == "unanswered"


@given(st.lists(st.sampled_from([0.0, 1.0, None]), max_size=12), st.floats(0, 1))
@settings(max_examples=60)
def test_scoring_what_is_unscored_never_turns_an_answer(scores, minimum):
    document = {"bounds": [{"metric": "selection", "min": minimum}]}
    status = only_check(document, scored(*scores)).status
    for rest in (0.0, 1.0):
        full = only_check(document, scored(*(rest if score is None else score for score in scores))).status
        if status in ("passed", "failed"):
            assert full == status


def taken(*amounts: float | None, name: str = "cost") -> list[GateCase]:
    cases = []
    for i, amount in enumerate(amounts):
        said: dict[str, Any] = {name: amount}
        cases.append(GateCase(f"e{i}", {"outcome": 1.0}, **said))
    return cases


@pytest.mark.parametrize(("statistic", "name"), [("cost", "cost"), ("tokens", "tokens"), ("latency_p95", "runtime_ms")])
def test_what_cases_take_is_limited_and_unknown_amounts_are_never_nothing(statistic, name):
    document = {"bounds": [{"metric": "outcome", "statistic": statistic, "max": 10}]}
    low, high = [4.0] * 40, [30.0] * 40
    assert only_check(document, taken(*low, name=name)).status == "passed"
    check = only_check(document, taken(*low[:20], *high, name=name))
    assert (check.status, check.example_count, check.examples[0]) == ("failed", 40, "e20")
    assert check.observed in (30.0, 64 / 3)
    check = only_check(document, taken(*low, None, name=name))
    assert (check.status, check.observed, check.examples) == ("unanswered", 4.0, ("e40",))
    assert check.reason.startswith("It depends on 1 case of which no one says what it took")
    # Whatever the unknown one took, the others are too much.
    assert only_check(document, taken(*high, None, name=name)).status == "failed"
    known = document | {"unscored": {"minimum_share": 0.9}}
    assert only_check(known, taken(*low, None, name=name)).status == "passed"
    check = only_check(document, taken(None, None, name=name))
    assert (check.status, check.observed, check.example_count) == ("unanswered", None, 2)
    assert check.reason.startswith("None of 2 cases says what it took: give prices to the run")


def test_amounts_of_groups_are_their_own():
    cases = [GateCase(f"e{i}", {"outcome": 1.0}, strata={"bucket": "xy"[i % 2]}, cost=1.0 + i % 2) for i in range(10)]
    bound = {"metric": "outcome", "statistic": "cost", "max": 1, "per_stratum": "bucket", "overrides": {"y": 2}}
    result = answer({"bounds": [bound]}, cases)
    assert [(check.name, check.status) for check in result.checks] == [
        ("outcome cost (bucket x)", "passed"),
        ("outcome cost (bucket y)", "passed"),
    ]
    check = answer({"bounds": [bound | {"overrides": {}}]}, cases).checks[1]
    assert (check.status, check.examples) == ("failed", ("e1", "e3", "e5", "e7", "e9"))


def test_a_slow_case_is_named_by_its_runtime_and_not_by_its_score():
    cases = [
        GateCase("wrong", {"a": 0.0}, runtime_ms=1.0),
        GateCase("slow", {"a": 1.0}, runtime_ms=90.0),
        GateCase("unmeasured", {"a": 1.0}),
    ]
    for document in (
        {"assertions": [{"template": "a", "conditions": ["runtime_avg <= 5"]}]},
        {"bounds": [{"metric": "a", "statistic": "runtime_avg", "max": 5}]},
    ):
        check = only_check(document, cases)
        assert (check.status, check.examples) == ("failed", ("slow",))


@pytest.mark.parametrize("name", ["runtime_ms", "cost", "tokens"])
@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf")])
def test_an_amount_is_finite_and_not_negative(name, amount):
    with pytest.raises(ValueError):
        GateCase("e", {}, **{name: amount})
