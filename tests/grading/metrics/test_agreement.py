from collections import Counter
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.metrics.references.figures import REFERENCES
from tests.grading.metrics.test_confusion import PUBLISHED
from toolevals.grading.metrics.agreement import (
    clustered_kappa,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    mean_cohen_kappa,
    percent_agreement,
)
from toolevals.grading.metrics.clustered import summed
from toolevals.grading.metrics.rates import Interval, wilson

Z = NormalDist().inv_cdf(0.975)
labels = st.sampled_from(["a", "b", "c", None])
ratings = st.dictionaries(st.tuples(labels, labels), st.integers(1, 20), max_size=8)


def test_the_published_matrix_as_two_raters():
    assert cohen_kappa(PUBLISHED).value == pytest.approx(0.8022, abs=5e-5)
    assert gwet_ac1(PUBLISHED).value == pytest.approx(0.8391, abs=5e-5)
    agreed = percent_agreement(PUBLISHED)
    assert agreed.value == 262 / 300
    assert agreed.interval == wilson(262, 300)


@pytest.mark.parametrize("reference", REFERENCES["confusion"])
def test_kappa_and_its_interval_are_those_of_statsmodels(reference):
    estimate = cohen_kappa(Counter(map(tuple, reference["cases"])))
    assert estimate.interval is not None
    got = (estimate.value, estimate.interval.low, estimate.interval.high)
    assert got == pytest.approx(tuple(reference["kappa"][name] for name in ("value", "low", "high")))


def test_kappa_of_a_few_units_without_a_difference_may_still_be_low():
    found = clustered_kappa({("y", "y"): 6, ("n", "n"): 4})
    assert found.value == 1
    assert found.interval is not None
    assert found.interval.low < 0.7
    assert found.interval.high == 1


def test_kappa_counts_units_of_one_example_as_alike_as_they_are():
    ratings = {("y", "y"): 400, ("y", "n"): 100, ("n", "y"): 60, ("n", "n"): 240}
    plain = clustered_kappa(ratings)
    found = clustered_kappa(ratings, summed([(8, 8)] * 80 + [(8, 0)] * 20))
    assert found.value == plain.value == cohen_kappa(ratings).value
    assert found.interval is not None
    assert plain.interval is not None
    assert found.interval.high - found.interval.low > 2.2 * (plain.interval.high - plain.interval.low)


def test_kappa_of_one_example_says_nothing():
    found = clustered_kappa({("y", "y"): 3, ("n", "n"): 4, ("y", "n"): 1}, summed([(8, 7)]))
    assert found.interval == Interval(-1, 1)


def test_kappa_of_many_units_is_that_of_the_large_sample():
    ratings = {("y", "y"): 40_000, ("y", "n"): 10_000, ("n", "y"): 6_000, ("n", "n"): 24_000}
    found, plain = clustered_kappa(ratings).interval, cohen_kappa(ratings).interval
    assert found is not None
    assert plain is not None
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=2e-4)


def test_sums_that_contradict_the_ratings_are_refused():
    with pytest.raises(ValueError, match="contradict"):
        clustered_kappa({("y", "y"): 3, ("n", "n"): 4}, summed([(8, 7)]))
    with pytest.raises(ValueError, match="more labels"):
        clustered_kappa({("a", "b"): 1, ("c", "c"): 2})
    assert clustered_kappa({("y", "y"): 3}).reason == "all labels are the same, so chance explains them"


@pytest.mark.parametrize("reference", REFERENCES["chance_corrected"])
@pytest.mark.parametrize(("name", "figure"), [("gwet", gwet_ac1), ("fleiss", fleiss_kappa)])
def test_several_raters_with_missing_labels_as_in_irrcac(reference, name, figure):
    rows = Counter(map(tuple, reference["rows"]))
    expected, estimate = reference[name], figure(rows)
    assert estimate.value == pytest.approx(expected["value"], abs=1e-9)
    assert percent_agreement(rows).value == pytest.approx(expected["agreement"], abs=1e-9)
    assert estimate.interval is not None
    assert estimate.interval.high - estimate.value == pytest.approx(Z * expected["error"], abs=1e-8)


def test_kappa_by_hand():
    # Cohen's own shape: 20 and 15 agreed of 50, margins .5/.5 and .6/.4, so that chance gives half.
    estimate = cohen_kappa({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    assert estimate.value == pytest.approx(0.4)


# Fleiss, Cohen and Everitt's variance of it by hand: (.04624 + .06348 + .36·(.121 + .162) - .1²)/(50·.5²) = .016128.
FIFTY = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}


def test_the_mean_kappa_weighs_pairs_by_their_units():
    # .4 of 50 units and 1 of 10, which has no error of its own; the third pair's chance explains everything.
    estimate = mean_cohen_kappa([FIFTY, {("y", "y"): 8, ("n", "n"): 2}, {("y", "y"): 9}])
    assert estimate.value == pytest.approx((50 * 0.4 + 10) / 60)
    assert estimate.count == 60
    half = Z * 50 / 60 * 0.016128**0.5
    assert estimate.interval is not None
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_errors_of_pairs_add_as_independent():
    one, two = mean_cohen_kappa([FIFTY]), mean_cohen_kappa([FIFTY, FIFTY])
    assert one == cohen_kappa(FIFTY)
    assert one.value == two.value
    assert one.interval is not None
    assert two.interval is not None
    wide, narrow = (found.high - found.low for found in (one.interval, two.interval))
    assert narrow == pytest.approx(wide / 2**0.5)


def test_the_mean_kappa_says_why_there_is_none():
    same = mean_cohen_kappa([{("a", "a"): 9}, {("b", "b"): 1}])
    assert (same.value, same.count) == (None, 10)
    assert same.reason == "all labels are the same, so chance explains them"
    for pairs in ([], [{("a", None): 3}]):
        assert mean_cohen_kappa(pairs).reason == "no unit has two labels"
    with pytest.raises(ValueError):
        mean_cohen_kappa([{("a", "a", "b"): 1}])


def test_labels_that_were_never_given_lower_chance():
    rows = {("a", "a"): 8, ("a", "b"): 2}
    two, three = gwet_ac1(rows), gwet_ac1(rows, labels=["a", "b", "c"])
    # π = .9, .1: chance .18 of two labels, .09 of three.
    assert two.value == pytest.approx((0.8 - 0.18) / 0.82)
    assert three.value == pytest.approx((0.8 - 0.09) / 0.91)
    assert gwet_ac1({("a", "a"): 5}, labels=["a", "b"]).value == 1


@pytest.mark.parametrize("figure", [cohen_kappa, gwet_ac1, fleiss_kappa])
def test_one_label_throughout_cannot_be_judged(figure):
    estimate = figure({("a", "a"): 9})
    assert (estimate.value, estimate.interval, estimate.count) == (None, None, 9)
    assert estimate.reason == "all labels are the same, so chance explains them"


@pytest.mark.parametrize("figure", [percent_agreement, cohen_kappa, gwet_ac1, fleiss_kappa])
def test_nothing_to_compare(figure):
    for rows in ({}, {("a", None): 3}, {("a", None): 3, (None, "b"): 1}, {("a", "b"): 0}):
        estimate = figure(rows)
        assert (estimate.value, estimate.reason) == (None, "no unit has two labels")


@pytest.mark.parametrize("figure", [percent_agreement, cohen_kappa, gwet_ac1, fleiss_kappa])
def test_a_negative_count_is_refused(figure):
    with pytest.raises(ValueError):
        figure({("a", "b"): -1})


def test_kappa_is_of_two_raters():
    with pytest.raises(ValueError):
        cohen_kappa({("a", "a", "b"): 1})


def test_three_raters_agree_in_pairs():
    estimate = percent_agreement({("a", "a", "b"): 2, ("a", "a", "a"): 1, ("a", None, None): 4})
    assert estimate.value == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)
    assert estimate.count == 3
    assert estimate.interval is not None


@given(ratings)
@settings(max_examples=80)
def test_names_of_labels_do_not_matter(rows):
    names = {"a": "z", "b": "m", "c": "k", None: None}
    renamed = {(names[one], names[other]): count for (one, other), count in rows.items()}
    for figure in (cohen_kappa, gwet_ac1, fleiss_kappa, percent_agreement):
        one, other = figure(rows), figure(renamed)
        assert (one.value is None) == (other.value is None)
        assert one.value is None or one.value == pytest.approx(other.value)
        assert (one.reason, one.count) == (other.reason, other.count)


@given(ratings)
@settings(max_examples=80)
def test_intervals_hold_the_figure_and_stay_in_range(rows):
    for figure in (cohen_kappa, gwet_ac1, fleiss_kappa, percent_agreement):
        estimate = figure(rows)
        if estimate.value is not None and estimate.interval is not None:
            assert min(-1, estimate.value) <= estimate.interval.low <= estimate.value + 1e-12
            assert estimate.value - 1e-12 <= estimate.interval.high <= 1


@given(ratings)
def test_the_raters_can_change_places(rows):
    turned = {(other, one): count for (one, other), count in rows.items()}
    one, other = cohen_kappa(rows).value, cohen_kappa(turned).value
    assert one is other is None or one == pytest.approx(other)
