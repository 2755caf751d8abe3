import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.rules import default_gate
from toolevals.grading.gates.values import Check, GateCase


def run(*scores: float | None) -> list[GateCase]:
    return [GateCase(f"e{i:03}", {"outcome": score}) for i, score in enumerate(scores)]


def check(rule: str, before: list[GateCase] | None, after: list[GateCase], **options: object) -> Check:
    gate = read_gate({"regressions": [{"rule": rule, "metrics": ["outcome"], **options}]})
    (only,) = evaluate_gate(gate, after, before).checks
    return only


@pytest.mark.parametrize("rule", ["cases", "paired", "averages"])
def test_without_a_run_before_nothing_passes(rule):
    assert check(rule, None, run(1.0)).status == "unanswered"
    assert check(rule, [], run(1.0)).status == "unanswered"
    assert check(rule, run(None), run(1.0)).status == "unanswered"


def test_a_case_that_passed_and_fails_now_is_a_regression():
    before, after = run(1.0, 1.0, 0.0, 1.0), run(1.0, 0.0, 1.0, 0.4)
    found = check("cases", before, after)
    assert (found.status, found.observed, found.count) == ("failed", 2, 4)
    assert found.reason == "2 examples passed before and fail now: e001, e003."
    assert check("cases", before, after, most=2).status == "passed"
    assert check("cases", before, run(1.0, 1.0, 0.0, 0.5)).status == "passed"


def test_many_regressions_are_named_in_part():
    found = check("cases", run(*[1.0] * 8), run(*[0.0] * 8))
    assert found.reason == "8 examples passed before and fail now: e000, e001, e002, e003, e004 and 3 more."


def test_trials_count_by_their_mean():
    before = [GateCase("e", {"outcome": float(i > 0)}, trial=i) for i in range(4)]
    after = [GateCase("e", {"outcome": float(i > 1)}, trial=i) for i in range(4)]
    assert check("cases", before, after).status == "passed"


@pytest.mark.parametrize("rule", ["cases", "averages"])
def test_what_passed_before_and_is_unscored_now_could_be_worse(rule):
    found = check(rule, run(1.0, 1.0), run(1.0, None))
    assert found.status == "unanswered"
    assert "score them" in found.reason


def test_examples_that_have_left_the_dataset_are_left_out():
    assert check("cases", run(1.0, 1.0), run(1.0)).status == "passed"


def test_a_significant_drop_fails():
    found = check("paired", run(*[1.0] * 50), run(*[1.0] * 40, *[0.0] * 10))
    assert (found.status, found.observed, found.count) == ("failed", -0.2, 50)
    assert found.reason.startswith("Worse by 0.2 (p = 0.002): see what changed.")
    assert found.interval is not None
    assert found.interval.low < -0.2 < found.interval.high < 0


def test_a_drop_that_may_be_chance_passes_and_says_what_can_be_shown():
    found = check("paired", run(*[1.0] * 50), run(*[1.0] * 47, *[0.0] * 3))
    assert found.status == "passed"
    assert found.reason.startswith("50 examples can show a difference of 0.12 at best")


def test_a_significant_rise_passes():
    assert check("paired", run(*[0.0] * 20), run(*[1.0] * 20)).status == "passed"


def test_too_few_examples_for_any_finding_are_unanswered():
    found = check("paired", run(*[1.0] * 5), run(*[1.0] * 5))
    assert found.status == "unanswered"
    assert found.reason == "5 examples are too few for any difference to be significant: add examples."


def test_unscored_cases_that_could_make_it_worse_leave_the_test_open():
    before = run(*[1.0] * 50)
    assert check("paired", before, run(*[1.0] * 45, *[0.0] * 3, *[None] * 2)).status == "passed"
    found = check("paired", before, run(*[1.0] * 43, *[0.0] * 3, *[None] * 4))
    assert found.status == "unanswered"
    assert found.reason.startswith("It depends on 4 examples scored before and not now: score them.")


def test_several_metrics_are_corrected_for_chance():
    def cases(worse: int) -> list[GateCase]:
        return [GateCase(f"e{i:03}", {"a": float(i >= worse), "b": 1.0, "c": 1.0, "d": 1.0}) for i in range(60)]

    rule = {"rule": "paired", "metrics": ["a", "b", "c", "d"]}
    # Six of six: p = .031, which four metrics make .125.
    statuses = {
        correction: evaluate_gate(read_gate({"regressions": [rule | {"correction": correction}]}), cases(6), cases(0))
        .checks[0]
        .status
        for correction in ("none", "holm", "benjamini_hochberg")
    }
    assert statuses == {"none": "failed", "holm": "passed", "benjamini_hochberg": "passed"}


def test_scores_are_decided_by_the_bootstrap():
    before, after = run(*[0.9, 0.8, 1.0] * 10), run(*[0.7, 0.7, 0.8] * 10)
    found = check("paired", before, after)
    assert found.status == "failed"
    assert "the whole interval is below 0" in found.reason
    assert check("paired", before, run(*[0.9, 0.9, 0.9] * 10)).status == "passed"


def test_averages_may_drop_so_far():
    before, after = run(*[1.0] * 100), run(*[1.0] * 98, *[0.0] * 2)
    found = check("averages", before, after, max_drop=0.01)
    assert found.status == "failed"
    assert found.reason.startswith("The mean fell from 1 to 0.98: see what changed. 100 examples can show")
    assert check("averages", before, after, max_drop=0.02).status == "passed"
    assert check("averages", before, before).status == "passed"


def test_a_rule_can_warn():
    assert check("cases", run(1.0), run(0.0), on_fail="warn").status == "warned"


def test_the_default_gate_can_ask_for_no_regression():
    gate = default_gate({"outcome": 0.5}, fail_on_regression=True)
    before, after = run(*[1.0] * 40), run(*[1.0] * 30, *[0.0] * 10)
    assert [each.status for each in evaluate_gate(gate, after, before).checks] == ["passed", "failed", "failed"]
    assert evaluate_gate(gate, after).status == "unanswered"


def test_an_equal_average_hides_no_regression():
    gate = default_gate({"outcome": 0.5}, fail_on_regression=True)
    before, after = run(1.0, 0.0, *[1.0] * 8), run(0.0, 1.0, *[1.0] * 8)
    rate, paired, cases = evaluate_gate(gate, after, before).checks
    assert (rate.status, rate.observed, paired.status, paired.observed) == ("passed", 0.9, "passed", 0)
    assert (cases.status, cases.examples, cases.example_count) == ("failed", ("e000",), 1)


def test_what_no_longer_arises_is_left_out_and_not_missing():
    before = [GateCase("a", {"shape": 1.0}), GateCase("b", {"shape": 1.0})]
    after = [GateCase("a", {"shape": 1.0}), GateCase("b", {"selection": 0.0})]
    gate = read_gate({"regressions": [{"rule": "cases", "metrics": ["shape"]}]})
    assert evaluate_gate(gate, after, before).status == "passed"


scores = st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=12)


@given(scores, st.sampled_from(["cases", "paired", "averages"]))
@settings(max_examples=60)
def test_a_run_is_never_worse_than_itself(marks, rule):
    assert check(rule, run(*marks), run(*marks)).status in ("passed", "unanswered")
