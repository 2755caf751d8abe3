from collections import Counter
from itertools import product
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.metrics import coverage
from toolevals.grading.metrics.clustered import ExampleSums, Rate, clustered_interval, f1_sums, rate, rate_of, summed
from toolevals.grading.metrics.rates import Interval, student_quantile, wilson

# It takes long: `./dev check` leaves it out.
pytestmark = pytest.mark.thorough

TALLIES = st.lists(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=60
)


def width(interval: Interval | None) -> float:
    assert interval is not None
    return interval.high - interval.low


def ends(found: Rate) -> tuple[float, float, float]:
    assert found.interval is not None
    assert found.value is not None
    return found.interval.low, found.value, found.interval.high


@pytest.mark.parametrize(
    ("degrees", "confidence", "expected"),
    # Tables of Student's t in any textbook.
    [(1, 0.95, 12.706), (2, 0.95, 4.303), (9, 0.95, 2.262), (10, 0.99, 3.169), (30, 0.95, 2.042), (120, 0.95, 1.980)],
)
def test_quantiles_of_t_are_those_of_the_tables(degrees, confidence, expected):
    assert student_quantile(degrees, confidence) == pytest.approx(expected, abs=5e-4)


@given(st.integers(1, 300))
def test_quantiles_of_t_fall_towards_the_normals(degrees):
    assert student_quantile(degrees) > student_quantile(degrees + 1) > 1.95996


def test_quantiles_of_t_are_refused_without_a_degree_of_freedom():
    with pytest.raises(ValueError, match="degree"):
        student_quantile(0)


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    # Worked by hand: of 10 of 10 t = 2.2622, p' = (10 + 2.5587)/15.1174 = .83075, t·√(p'(1 - p')/15.1174) = .21817.
    [(10, 10, 0.6126, 1.0), (15, 20, 0.5118, 0.8984), (262, 300, 0.8304, 0.9067)],
)
def test_of_single_trials_the_interval_agrees_with_hand_worked_values(passed, total, low, high):
    found = clustered_interval(ExampleSums.single(passed, total))
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_trials_that_are_all_alike_count_as_one_each():
    alike = ExampleSums.of({(8, 8): 15, (8, 0): 5})
    assert alike.design_effect == 8
    assert clustered_interval(alike) == clustered_interval(ExampleSums.single(15, 20))


def test_trials_that_are_as_different_as_can_be_count_nearly_as_examples():
    mixed = ExampleSums.of({(8, 4): 100})
    assert mixed.design_effect == 1
    assert width(clustered_interval(mixed)) == pytest.approx(width(wilson(400, 800)), rel=0.02)


def test_trials_without_any_variance_are_taken_as_alike():
    assert clustered_interval(ExampleSums.of({(8, 8): 20})) == clustered_interval(ExampleSums.single(20, 20))


@given(TALLIES)
def test_the_interval_holds_the_rate_is_never_of_zero_width_and_stays_in_bounds(tallies):
    low, share, high = ends(rate_of(summed(tallies)))
    assert 0 <= low <= share <= high <= 1
    assert high - low > 0.001


@given(TALLIES)
def test_sums_of_different_examples_add_up(tallies):
    half = len(tallies) // 2
    assert summed(tallies[:half]) + summed(tallies[half:]) == summed(tallies) == ExampleSums.of(Counter(tallies))


@given(TALLIES)
def test_the_interval_of_failures_mirrors_that_of_passes(tallies):
    low, share, high = ends(rate_of(summed(tallies)))
    mirrored = ends(rate_of(summed([(n, n - s) for n, s in tallies])))
    assert mirrored == pytest.approx((1 - high, 1 - share, 1 - low))


@given(TALLIES)
def test_a_part_knows_the_examples_in_which_it_occurs(tallies):
    whole, part = summed(tallies), summed([(n, s) for n, s in tallies if s])
    assert summed([(n, n) for n, _ in tallies]).of_part(part) == whole


@given(TALLIES)
def test_a_part_that_is_the_whole_has_the_interval_of_the_whole(tallies):
    whole = summed(tallies)
    assert rate(whole.passed, whole.trials, whole) == rate_of(whole)


def part_coverage(
    examples: int, trials: int, share: float, correlation: float, *, draws: int = 2000
) -> tuple[float, float, float]:
    """Return how often a part's interval holds its share: by counts, by its own sums, by the effect of the whole.

    Trials of the whole are barely alike, those of the part have the given correlation.
    """
    whole = next(iter(coverage.samples(examples, coverage.beta_binomial(trials, 0.7, 0.05), 1)))
    found = coverage.samples(examples, coverage.beta_binomial(trials, share, correlation), draws)
    held = Counter[str]()
    for sums, count in found.items():
        part = rate(sums.passed, sums.trials, whole).interval
        borrowed = clustered_interval(sums, design_effect=whole.design_effect)
        own = rate(sums.passed, sums.trials, whole.of_part(sums)).interval
        held["rate"] += count * (part is not None and part.low <= share <= part.high)
        held["own"] += count * (own is not None and own.low <= share <= own.high)
        held["borrowed"] += count * (borrowed.low <= share <= borrowed.high)
    return held["rate"] / draws, held["own"] / draws, held["borrowed"] / draws


def test_the_interval_of_a_part_covers_its_share_however_alike_its_trials_are():
    cells = [
        part_coverage(*cell) for cell in product((20, 50, 100, 300), (2, 4, 8), (0.05, 0.1, 0.3, 0.5), (0.1, 0.5, 0.95))
    ]
    by_rate, own, borrowed = zip(*cells, strict=True)
    assert min(by_rate) >= 0.92
    assert fmean(by_rate) >= 0.95
    # With the part's own sums it is as true, and a quarter narrower. Of 20 examples a few discrete values are covered.
    assert min(own) >= 0.92
    assert 0.945 <= fmean(own) <= 0.97
    assert min(borrowed) < 0.75


def test_single_trials_are_examples():
    found = rate(15, 20)
    assert (found.examples, found.tells, rate(15, 19).tells) == (20, True, False)
    assert rate(3, 4, ExampleSums.single(80, 100)) == rate(3, 4)


def test_one_example_says_nothing_and_no_example_has_no_rate():
    assert clustered_interval(ExampleSums.of({(8, 8): 1})) == Interval(0.0, 1.0)
    assert rate(0, 0).interval is None
    assert rate_of(ExampleSums()) == rate(0, 0)


@pytest.mark.parametrize("sums", [ExampleSums(1, 1, 2), ExampleSums(2, 1, 1), ExampleSums(1, 1, -1)])
def test_sums_that_contradict_each_other_are_refused(sums):
    with pytest.raises(ValueError, match="not a proportion"):
        clustered_interval(sums)


def test_f1_is_a_ratio_with_the_same_interval():
    assert rate_of(f1_sums(22, 32, 25)).value == pytest.approx(44 / 57)
    assert clustered_interval(f1_sums(1, 1, 1)) == Interval(0.0, 1.0)
    low, _, high = ends(rate_of(f1_sums(50, 50, 50)))
    assert (low < 0.95, high) == (True, 1.0)
    assert rate_of(f1_sums(0, 0, 0)).value is None
    with pytest.raises(ValueError, match="contradict"):
        f1_sums(3, 2, 3)


def test_f1_is_covered_as_often_as_said():
    random = Random(5)
    for examples, shares in ((20, (0.8, 0.2)), (60, (0.5, 0.5)), (60, (0.95, 0.05)), (200, (0.9, 0.1))):
        truth = 2 * shares[0] / (2 * shares[0] + shares[1])
        held = 0
        for _ in range(600):
            found = random.choices(((2, 2), (1, 0)), shares, k=examples)
            low, _, high = ends(rate_of(summed(found)))
            held += low <= truth <= high
        assert held >= 0.93 * 600


def test_single_trials_are_covered_as_often_as_said_exactly():
    rates = (0.5, 0.7, 0.8, 0.9, 0.944, 0.97)
    cells = [(examples, 1, rate, 0.0) for examples in (*range(10, 60, 3), 100, 300) for rate in rates]
    as_said([coverage.coverage(*cell, 0) for cell in cells])
    # What it replaces: of ten single trials, and of trials that are counted as examples.
    assert coverage.coverage(10, 1, 0.944, 0.0, 0, method=lambda sums: wilson(sums.passed, sums.trials)) < 0.9


def test_several_trials_are_covered_as_often_as_said():
    cells = list(product((10, 20, 40, 100, 300), (2, 4, 8), (0.5, 0.8, 0.944, 0.97), (0.0, 0.3, 0.6, 0.9)))
    as_said([coverage.coverage(*cell, 1000) for cell in cells])
    # What it replaces: trials counted as examples.
    plain = coverage.coverage(100, 8, 0.8, 0.6, 1000, method=lambda sums: wilson(sums.passed, sums.trials))
    assert plain < 0.7


def as_said(found: list[float]) -> None:
    """Hold coverage to what the documentation says of it."""
    assert min(found) >= coverage.LOWEST
    assert sum(each < coverage.LOW for each in found) <= coverage.MOST_LOW * len(found)
    assert coverage.MEAN[0] <= fmean(found) <= coverage.MEAN[1]
