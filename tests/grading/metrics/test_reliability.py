import gzip
import json
import os
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.benchmark import needs_benchmark
from tests.grading.metrics.tallies import tallies_of
from toolevals.grading.metrics.rates import Interval, wilson
from toolevals.grading.metrics.reliability import (
    compound,
    compound_interval,
    pass_at_k,
    pass_hat_k,
    step_success_needed,
    tallied_pass_at_k,
    tallied_pass_hat_k,
    tallied_pass_hat_value,
    tallied_variance,
)

trials = st.lists(st.booleans(), min_size=1, max_size=8)


@needs_benchmark
def test_the_published_figures_of_recorded_runs():
    file = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / "tau_gpt-4o_airline.slim.json.gz"
    outcomes: dict[int, list[bool]] = {}
    for record in json.loads(gzip.decompress(file.read_bytes()))["records"]:
        outcomes.setdefault(record["task_id"], []).append(record["reward"] == 1)
    estimates = [tallied_pass_hat_k(tallies_of(outcomes), k) for k in (1, 2, 3, 4)]
    assert [round(estimate.value or 0, 3) for estimate in estimates] == [0.42, 0.273, 0.22, 0.2]
    assert all(estimate.count == 50 for estimate in estimates)
    first = estimates[0].interval
    assert first is not None
    # Fifty tasks decide how sure the figure is, not two hundred trials.
    wide = wilson(84, 200)
    assert first.high - first.low > 1.3 * (wide.high - wide.low)


@given(trials, st.integers(1, 8))
def test_both_count_the_choices_of_k_trials(outcomes, k):
    at, hat = (figure(len(outcomes), sum(outcomes), k) for figure in (pass_at_k, pass_hat_k))
    chosen = list(combinations(outcomes, k))
    if not chosen:
        assert at is hat is None
        return
    assert at == pytest.approx(sum(any(choice) for choice in chosen) / len(chosen))
    assert hat == pytest.approx(sum(all(choice) for choice in chosen) / len(chosen))


@given(st.lists(trials, max_size=6), st.integers(1, 8))
def test_a_value_alone_is_that_of_the_estimate(outcomes, k):
    tallies = tallies_of(dict(enumerate(outcomes)))
    assert tallied_pass_hat_value(tallies, k) == tallied_pass_hat_k(tallies, k).value


@given(st.integers(1, 20).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_more_trials_help_one_and_hurt_the_other(counts):
    n, passed = counts
    at = [pass_at_k(n, passed, k) or 0 for k in range(1, n + 1)]
    hat = [pass_hat_k(n, passed, k) or 0 for k in range(1, n + 1)]
    assert at[0] == pytest.approx(hat[0]) == pytest.approx(passed / n)
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(at))
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(hat))


def test_a_case_by_hand():
    # One of four passed: a pair holds it in three of six choices, and never two of it.
    assert (pass_at_k(4, 1, 2), pass_hat_k(4, 1, 2)) == (0.5, 0)
    assert (pass_at_k(3, 3, 4), pass_hat_k(3, 3, 4)) == (None, None)


def test_bad_counts_are_refused():
    for counts in ((3, 4, 1), (3, -1, 1), (3, 1, 0)):
        for figure in (pass_at_k, pass_hat_k):
            with pytest.raises(ValueError):
                figure(*counts)
    with pytest.raises(ValueError):
        tallied_pass_at_k(tallies_of({}), 0)


def test_examples_with_too_few_scored_trials_are_left_out():
    outcomes: dict[str, list[bool | None]] = {"a": [True, True], "b": [True, None], "c": [True, False, None]}
    tallies = tallies_of(outcomes)
    assert (tallied_pass_hat_k(tallies, 2).value, tallied_pass_hat_k(tallies, 2).count) == (0.5, 2)
    assert tallied_pass_at_k(tallies, 2).value == 1
    none = tallied_pass_hat_k(tallies, 3)
    assert (none.value, none.interval, none.reason) == (None, None, "no example has 3 scored trials")


def test_variance_of_examples_that_always_come_out_alike():
    split = tallied_variance(tallies_of({"a": [True] * 4, "b": [False] * 4}))
    assert split is not None
    assert (split.between, split.within, split.consistency, split.count) == (0.5, 0, 1, 2)


def test_variance_that_is_all_chance():
    split = tallied_variance(tallies_of({i: [True, False] for i in range(10)}))
    assert split is not None
    assert (split.between, split.within, split.consistency) == (0, 0.5, 0)


def test_variance_by_hand():
    # 3 of 4 and 1 of 4: inside 3/12 each; means .75 and .25 vary by .125, less a quarter of .25.
    split = tallied_variance(
        tallies_of({"a": [True, True, True, False], "b": [True, False, False, False], "c": [True]})
    )
    assert split is not None
    assert (split.within, split.between, split.count) == (0.25, 0.0625, 2)


def test_variance_needs_two_examples_with_two_trials():
    assert tallied_variance(tallies_of({"a": [True, False], "b": [True]})) is None
    same = tallied_variance(tallies_of({"a": [True, True], "b": [True, True]}))
    assert same is not None
    assert same.consistency is None


def test_errors_compound():
    assert compound(0.95, 8) == pytest.approx(0.6634, abs=5e-5)
    assert compound(0.99, 8) == pytest.approx(0.9227, abs=5e-5)
    assert compound(0.5, 0) == 1
    assert compound(0.0, 3) == 0
    assert compound_interval(Interval(0.9, 1.0), 2) == Interval(0.9 * 0.9, 1.0)
    for arguments in ((1.1, 2), (-0.1, 2), (0.5, -1)):
        with pytest.raises(ValueError):
            compound(*arguments)
    for needed in ((1.1, 2), (0.5, 0)):
        with pytest.raises(ValueError):
            step_success_needed(*needed)


@given(st.floats(0.01, 1), st.integers(1, 20))
def test_the_success_needed_for_each_step_gives_the_whole(whole, steps):
    assert compound(step_success_needed(whole, steps), steps) == pytest.approx(whole)


@given(st.lists(st.lists(st.sampled_from([True, False, None]), max_size=5), max_size=12), st.integers(1, 4))
def test_counted_examples_say_what_examples_say(examples, k):
    outcomes = dict(enumerate(examples))
    tallies = tallies_of(outcomes)
    assert tallies.total() == len(examples)
    hat = [
        pass_hat_k(len(scored), sum(scored), k) for scored in ([t for t in each if t is not None] for each in examples)
    ]
    known = [value for value in hat if value is not None]
    assert tallied_pass_hat_k(tallies, k).value == (pytest.approx(sum(known) / len(known)) if known else None)
