import random
from collections import Counter
from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.metrics.references.figures import REFERENCES
from toolevals.grading.metrics.agreement import krippendorff_alpha

# K. Krippendorff's own example of three coders, fifteen units and missing labels.
CODERS = [
    [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
    [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
    [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
]
EXAMPLE = Counter(zip(*CODERS, strict=True))

marks = st.sampled_from([1, 2, 3, None])
ratings = st.dictionaries(st.tuples(marks, marks, marks), st.integers(1, 5), max_size=6)


@pytest.mark.parametrize(("scale", "value"), [("nominal", 0.691), ("ordinal", 0.807), ("interval", 0.811)])
def test_the_authors_example(scale, value):
    estimate = krippendorff_alpha(EXAMPLE, scale=scale)
    assert estimate.value == pytest.approx(value, abs=5e-4)
    assert estimate.count == 12
    assert estimate.interval is not None
    assert estimate.interval.low < value < estimate.interval.high <= 1


@pytest.mark.parametrize("reference", REFERENCES["alpha"])
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_the_krippendorff_package(reference, scale):
    estimate = krippendorff_alpha(Counter(map(tuple, reference["rows"])), scale=scale)
    assert estimate.value == pytest.approx(reference[scale], abs=1e-9)


def test_alpha_by_hand():
    # Two raters, ten units, one disagreement: o_ab = 2 of 20 labels, 11 a and 9 b expect 2·99/19.
    estimate = krippendorff_alpha({("a", "a"): 5, ("b", "b"): 4, ("a", "b"): 1})
    assert estimate.value == pytest.approx(1 - 2 / (2 * 99 / 19))


def test_the_analytic_interval_by_hand():
    # The same: n = 20, A = 2, B = 400 - 121 - 81 = 198. What a unit adds to 1 - alpha, in 1/19602: aa -288, bb -440,
    # ab 3398; they sum to A/B = 198/19602.
    estimate = krippendorff_alpha({("a", "a"): 5, ("b", "b"): 4, ("a", "b"): 1}, resamples=0)
    assert estimate.value == pytest.approx(1 - 2 / (2 * 99 / 19))
    error = sqrt((5 * 288**2 + 4 * 440**2 + 3398**2 - 198**2 / 10) * 10 / 9) / 19602
    assert estimate.interval is not None
    assert estimate.value is not None
    assert estimate.interval.low == pytest.approx(estimate.value - NormalDist().inv_cdf(0.975) * error)
    assert (estimate.interval.high, estimate.count) == (1, 10)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kinds", [3, 12])
def test_the_analytic_interval_is_near_the_bootstrap(seed, kinds):
    drawn = random.Random(seed)
    rows: Counter[tuple[int | None, ...]] = Counter()
    for _ in range(400):
        meant = int(kinds * drawn.random() ** 2)
        rows[tuple(
            None if drawn.random() < 0.2 else meant if drawn.random() < 0.7 else drawn.randrange(kinds)
            for _ in range(3)
        )] += 1  # fmt: skip
    analytic, bootstrap = krippendorff_alpha(rows, resamples=0), krippendorff_alpha(rows)
    assert analytic.value == pytest.approx(bootstrap.value)
    assert analytic.count == bootstrap.count
    assert analytic.interval is not None
    assert bootstrap.interval is not None
    for one, other in (
        (analytic.interval.low, bootstrap.interval.low),
        (analytic.interval.high, bootstrap.interval.high),
    ):
        assert one == pytest.approx(other, abs=0.01)


def test_an_analytic_interval_has_its_limits():
    assert krippendorff_alpha({("a", "b"): 1}, resamples=0).interval is None
    assert krippendorff_alpha({("a", "a"): 4}, resamples=0).count == 4
    with pytest.raises(ValueError, match="nominal"):
        krippendorff_alpha({(1, 2): 3}, scale="interval", resamples=0)


def test_an_order_of_ones_own():
    rows = {("low", "low"): 3, ("low", "mid"): 2, ("high", "high"): 3, ("mid", "high"): 1}
    named = krippendorff_alpha(rows, scale="ordinal", order=["low", "mid", "high"])
    rank = {"low": 1, "mid": 2, "high": 3}
    numbered = krippendorff_alpha({(rank[a], rank[b]): n for (a, b), n in rows.items()}, scale="ordinal")
    assert named.value == pytest.approx(numbered.value)
    assert krippendorff_alpha(rows, scale="ordinal").value != pytest.approx(numbered.value)


def test_nothing_to_compare():
    assert krippendorff_alpha({("a", None): 4}).reason == "no unit has two labels"
    same = krippendorff_alpha({("a", "a"): 4})
    assert (same.value, same.reason) == (None, "all labels are the same, so chance explains them")
    assert krippendorff_alpha({("a", "b"): 1}).interval is None


def test_labels_that_the_scale_cannot_take_are_refused():
    with pytest.raises(ValueError):
        krippendorff_alpha({("a", "b"): 2}, scale="interval")
    with pytest.raises(ValueError):
        krippendorff_alpha({(1.0, float("nan")): 2}, scale="interval")
    with pytest.raises(ValueError):
        krippendorff_alpha({("a", 1): 2}, scale="ordinal")
    with pytest.raises(ValueError):
        krippendorff_alpha({("a", "b"): 2}, scale="ordinal", order=["a"])
    with pytest.raises(ValueError):
        krippendorff_alpha({("a", "b"): -2})


@given(ratings)
@settings(max_examples=50)
def test_names_of_nominal_labels_and_raters_do_not_matter(rows):
    names = {1: "z", 2: "m", 3: "k", None: None}
    turned = {(names[c], names[a], names[b]): count for (a, b, c), count in rows.items()}
    one, other = (krippendorff_alpha(each, resamples=5).value for each in (rows, turned))
    assert one is other is None or one == pytest.approx(other)


@given(ratings, st.sampled_from(["nominal", "ordinal", "interval"]))
@settings(max_examples=50)
def test_the_interval_holds_alpha(rows, scale):
    estimate = krippendorff_alpha(rows, scale=scale, resamples=20)
    if estimate.value is not None and estimate.interval is not None:
        assert estimate.interval.low <= estimate.value <= estimate.interval.high <= 1 + 1e-12
