from collections import Counter
from fractions import Fraction
from itertools import product
from operator import mul
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.metrics.references.figures import REFERENCES
from toolevals.grading.metrics.comparison import compare_counted, compare_runs, mcnemar, sign_flip_counted

counts = st.integers(0, 60)
differences = st.lists(st.fractions(-1, 1, max_denominator=4), max_size=8)


@pytest.mark.parametrize("reference", REFERENCES["mcnemar"])
def test_mcnemar_is_that_of_statsmodels(reference):
    p_value = mcnemar(reference["only_before"], reference["only_after"])
    assert p_value == pytest.approx(reference["p_value"], rel=1e-7)


def test_mcnemar_by_hand():
    # Six of six in one direction: 2/64.
    assert mcnemar(6, 0) == 0.03125
    assert mcnemar(1, 3) == 2 * (1 + 4) / 16
    assert mcnemar(0, 0) == 1
    with pytest.raises(ValueError):
        mcnemar(-1, 2)


def flipped(moved: list[Fraction]) -> float:
    return sign_flip_counted(Counter(moved))


@given(counts, counts)
def test_mcnemar_is_symmetric_and_a_probability(one, other):
    assert mcnemar(one, other) == mcnemar(other, one)
    assert 0 < mcnemar(one, other) <= 1


@given(st.integers(501, 700), st.integers(501, 700))
@settings(max_examples=30)
def test_the_long_way_agrees_with_the_exact_one(one, other):
    exact = mcnemar(one // 2, other // 2), mcnemar(one, other)
    flips = [flipped([Fraction(1)] * a + [Fraction(-1)] * b) for a, b in ((one // 2, other // 2), (one, other))]
    assert flips[0] == pytest.approx(exact[0], rel=1e-9)
    # Beyond a thousand the sign-flip test is the normal one, without a correction for whole counts.
    assert flips[1] == pytest.approx(exact[1], abs=0.03)


@given(counts, counts)
def test_sign_flips_of_one_size_are_mcnemars(one, other):
    assert flipped([Fraction(1, 4)] * one + [Fraction(-1, 4)] * other) == pytest.approx(mcnemar(one, other))


@given(differences)
@settings(max_examples=60)
def test_the_sign_flip_test_counts_every_pattern(moved):
    observed = abs(sum(moved))
    patterns = list(product((1, -1), repeat=len(moved)))
    extreme = sum(abs(sum(s * d for s, d in zip(signs, moved, strict=True))) >= observed for signs in patterns)
    assert flipped(moved) == pytest.approx(extreme / len(patterns))


@given(differences)
def test_the_sign_flip_test_does_not_care_for_the_direction(moved):
    assert flipped(moved) == flipped([-difference for difference in moved])


def test_two_runs_of_single_trials():
    before = {i: [i >= 8] for i in range(40)}
    after = {i: [i not in (20, 21)] for i in range(40)}
    compared = compare_runs(before, after)
    assert (compared.examples, compared.left_out) == (40, 0)
    assert (compared.before, compared.after) == (0.8, 0.95)
    assert compared.difference == pytest.approx(0.15)
    assert (compared.improved, compared.worsened) == (8, 2)
    assert compared.test == "mcnemar"
    assert compared.p_value == mcnemar(2, 8)
    assert compared.interval is not None
    assert -0.05 < compared.interval.low < 0.15 < compared.interval.high < 0.35


def test_trials_stay_with_their_example():
    before = {i: [True, False, False, False] for i in range(6)}
    after = {i: [True, True, True, True] for i in range(6)}
    compared = compare_runs(before, after)
    # Eighteen trials changed, but only six examples: the smallest p-value that six can have.
    assert (compared.test, compared.p_value) == ("sign_flip", 0.03125)


def test_scores_are_tested_by_flipping_signs():
    compared = compare_runs({"a": [0.5], "b": [1.0], "c": [0.2]}, {"a": [0.75], "b": [1.0], "c": [0.4]})
    # Two moved, both up: two of the four sign patterns are as far from 0.
    assert (compared.p_value, compared.test) == (0.5, "sign_flip")
    # Of .25, 0 and .2 the mean is .15, the squares' .034166…: √(.0341666 - .0225).
    assert compared.spread == pytest.approx(0.1080123)
    assert compared.difference == pytest.approx(0.15)
    assert compared.interval is not None
    assert compared.interval.low <= 0.15 <= compared.interval.high


def test_what_is_missing_in_a_run_is_left_out_and_counted():
    compared = compare_runs({"a": [True], "b": [None], "c": [True]}, {"a": [True, None], "b": [True], "d": [True]})
    assert (compared.examples, compared.left_out) == (1, 3)
    nothing = compare_runs({}, {"a": [True]})
    assert (nothing.examples, nothing.left_out, nothing.difference, nothing.p_value) == (0, 1, None, None)


outcomes = st.dictionaries(st.integers(0, 9), st.lists(st.booleans() | st.none(), max_size=4), max_size=10)


@given(outcomes, outcomes)
@settings(max_examples=60)
def test_comparing_the_other_way_round_turns_the_sign(one, other):
    there, back = compare_runs(one, other), compare_runs(other, one)
    assert (there.examples, there.left_out, there.p_value) == (back.examples, back.left_out, back.p_value)
    assert (there.improved, there.worsened) == (back.worsened, back.improved)
    if there.difference is not None:
        assert back.difference == pytest.approx(-there.difference)


def test_counted_outcomes_by_hand():
    found = compare_counted({((0, 1), (1, 1)): 9, ((1, 1), (0, 1)): 1, ((1, 1), (1, 1)): 10, ((0, 0), (1, 1)): 3})
    assert (found.examples, found.left_out, found.improved, found.worsened) == (20, 3, 9, 1)
    assert (found.before, found.after, found.difference) == (11 / 20, 19 / 20, 8 / 20)
    # 2·(C(10,0) + C(10,1))/2^10.
    assert (found.p_value, found.test) == (22 / 1024, "mcnemar")


shares = st.integers(0, 3).flatmap(lambda scored: st.tuples(st.integers(0, scored), st.just(scored)))


@given(st.dictionaries(st.tuples(shares, shares), st.integers(0, 4), max_size=6))
def test_counting_examples_is_comparing_each_by_itself(counted):
    pairs = [pair for pair, count in counted.items() for _ in range(count)]
    sides = [
        {number: [place < pair[side][0] for place in range(pair[side][1])] for number, pair in enumerate(pairs)}
        for side in range(2)
    ]
    one, other = compare_counted(counted), compare_runs(*sides)
    assert (one.examples, one.left_out, one.improved, one.worsened) == (
        other.examples,
        other.left_out,
        other.improved,
        other.worsened,
    )
    assert (one.test, one.p_value) == (other.test, pytest.approx(other.p_value) if other.p_value else other.p_value)
    assert (one.before is None) == (other.before is None)
    if one.before is not None:
        assert one.before == pytest.approx(other.before)
        assert one.after == pytest.approx(other.after)
        assert one.difference == pytest.approx(other.difference, abs=1e-12)
        assert (one.interval is None) == (other.interval is None)
        assert one.spread == pytest.approx(other.spread, abs=1e-9)
        assert one.spread == pytest.approx(pstdev(compared_differences(*sides)), abs=1e-9)


def compared_differences(before: dict[int, list[bool]], after: dict[int, list[bool]]) -> list[float]:
    both = [(before[example], after[example]) for example in before if before[example] and after[example]]
    return [sum(second) / len(second) - sum(first) / len(first) for first, second in both]


scores = st.lists(st.tuples(*[st.integers(0, 1000)] * 2), min_size=1, max_size=9)


@given(scores)
def test_the_test_of_scores_is_the_share_of_sign_patterns(pairs):
    sides = [{place: [pair[side] / 1000] for place, pair in enumerate(pairs)} for side in range(2)]
    if all(each in (0, 1000) for pair in pairs for each in pair):
        return
    moved = [second - first for first, second in pairs]
    patterns = [abs(sum(map(mul, signs, moved))) >= abs(sum(moved)) for signs in product((1, -1), repeat=len(moved))]
    assert compare_runs(*sides).p_value == pytest.approx(sum(patterns) / len(patterns))


@given(
    st.lists(st.tuples(*[st.lists(st.none() | st.sampled_from([0.1, 0.25, 1 / 3, 1.0]), max_size=3)] * 2), max_size=12),
    st.integers(1, 3),
)
def test_means_are_those_of_every_example_by_itself(rows, often):
    found = compare_runs(
        dict(enumerate(row[0] for row in rows * often)), dict(enumerate(row[1] for row in rows * often))
    )
    scored = [[[each for each in side if each is not None] for side in row] for row in rows * often]
    means = [(fmean(first), fmean(second)) for first, second in scored if first and second]
    assert found.examples == len(means)
    assert found.before == (fmean(first for first, _ in means) if means else None)
    assert found.after == (fmean(second for _, second in means) if means else None)
    assert found.difference == (fmean(second - first for first, second in means) if means else None)
    assert (found.improved, found.worsened) == (
        sum(second > first for first, second in means),
        sum(second < first for first, second in means),
    )
