"""The corrected score: by hand, its laws, and its coverage: exact for one trial, simulated for several."""

from __future__ import annotations

from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.judging.sampling import one_trial_each, sample_of_each
from toolevals.grading.metrics.clustered import ExampleSums, rate, rate_of, summed
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.metrics.rereading import CorrectedScore, corrected_score

# It takes long: `./dev check` leaves it out.
pytestmark = pytest.mark.thorough

NOTHING = ExampleSums()


def reread(passed: tuple[int, int], failed: tuple[int, int]) -> tuple[ExampleSums, ExampleSums]:
    """Return the sums of cases judged right among those that were read, passed and failed."""
    return ExampleSums.single(*passed), ExampleSums.single(*failed)


def test_by_hand() -> None:
    # Of 80 of 100 that passed 36 of 40 were right, of the failed 5 of 20: .8 * .9 + .2 * .25.
    score = corrected_score(rate(80, 100), *reread((36, 40), (5, 20)))
    assert score.value == pytest.approx(0.77)
    assert (score.passed.value, score.failed.value) == pytest.approx((0.9, 0.25))
    assert score.low is not None
    assert score.high is not None
    assert (score.low, score.high) == pytest.approx((0.647, 0.849), abs=5e-4)
    # The same of eight trials each, all alike, says no more.
    eight = [ExampleSums.of({(8, 8): right, (8, 0): total - right}) for right, total in ((36, 40), (5, 20))]
    assert corrected_score(rate(80, 100), *eight).low == pytest.approx(score.low)


@pytest.mark.parametrize(
    ("stated", "passed", "failed", "reason"),
    [
        (rate(0, 0), NOTHING, NOTHING, "nothing is scored"),
        (rate(5, 9), NOTHING, ExampleSums.single(1, 2), "no passed case was judged"),
        (rate(5, 9), ExampleSums.single(1, 2), NOTHING, "no failed case was judged"),
    ],
)
def test_what_was_not_read_is_unknown(stated, passed, failed, reason) -> None:
    score = corrected_score(stated, passed, failed)
    assert (score.value, score.low, score.high, score.reason) == (None, None, None, reason)


def test_a_verdict_that_the_run_does_not_have_needs_no_reading() -> None:
    for stated, sums in (
        (rate(30, 30), reread((27, 30), (0, 0))),
        (rate(0, 30), reread((0, 0), (3, 30))),
    ):
        score = corrected_score(stated, *sums)
        assert score.value == pytest.approx(0.9 if stated.passed else 0.1)
        low, high = ends(score)
        assert score.value is not None
        assert low < score.value < high


@st.composite
def readings(draw: st.DrawFn) -> tuple[int, int, tuple[int, int], tuple[int, int]]:
    passed, failed = draw(st.integers(1, 300)), draw(st.integers(1, 300))
    first, second = draw(st.integers(1, passed)), draw(st.integers(1, failed))
    right, wrong = draw(st.integers(0, first)), draw(st.integers(0, second))
    return passed, failed, (right, first), (wrong, second)


@given(readings())
def test_it_lies_between_the_shares_and_is_never_of_zero_width(found) -> None:
    passed, failed, right, wrong = found
    score = corrected_score(rate(passed, passed + failed), *reread(right, wrong))
    assert score.value is not None
    assert score.low is not None
    assert score.high is not None
    shares = [right[0] / right[1], wrong[0] / wrong[1]]
    assert min(shares) - 1e-12 <= score.value <= max(shares) + 1e-12
    assert 0 <= score.low <= score.value <= score.high <= 1
    assert score.high > score.low


@given(readings())
def test_swapping_verdicts_and_answers_swaps_the_ends(found) -> None:
    passed, failed, right, wrong = found
    score = corrected_score(rate(passed, passed + failed), *reread(right, wrong))
    other = corrected_score(rate(failed, passed + failed), *reread(wrong, right))
    turned = corrected_score(
        rate(passed, passed + failed), *reread((right[1] - right[0], right[1]), (wrong[1] - wrong[0], wrong[1]))
    )
    assert ends(other) == pytest.approx(ends(score))
    assert ends(turned) == pytest.approx(tuple(1 - end for end in reversed(ends(score))))


@given(readings())
def test_where_all_is_read_and_confirmed_it_is_the_score_itself(found) -> None:
    passed, failed, *_ = found
    stated = rate(passed, passed + failed)
    score = corrected_score(stated, *reread((passed, passed), (0, failed)))
    assert score.value == pytest.approx(stated.value)
    assert score.low is not None
    assert stated.low is not None
    # What was read tells about the shares, too, so that it is the wider one.
    assert score.low <= stated.low + 1e-12


@pytest.mark.parametrize("right", [(60, 20), (50, 10), (40, 2)])
def test_where_all_is_read_the_interval_is_about_that_of_a_rate(right) -> None:
    score = corrected_score(rate(140, 200), *reread((2 * right[0], 140), (right[1], 60)))
    whole = rate(2 * right[0] + right[1], 200)
    assert score.value == pytest.approx(whole.value)
    assert width(score) == pytest.approx(whole.high - whole.low, rel=0.12)  # type: ignore[operator]


# Examples, share passed, share right of the passed and of the failed, read of each.
CELLS = [
    (examples, share, right, wrong, size)
    for examples, size in ((20, 1), (20, 3), (20, 10), (50, 5), (50, 25), (100, 10), (100, 50))
    for share in (0.3, 0.8, 0.95)
    for right in (0.7, 0.98, 1.0)
    for wrong in (0.0, 0.05, 0.6)
]


def test_it_covers_the_true_share_at_one_trial() -> None:
    covered = {cell: coverage(*cell) for cell in CELLS}
    assert min(covered.values()) >= 0.92, covered
    # Where few are read of one verdict, it covers more.
    assert 0.95 <= sum(covered.values()) / len(covered) <= 0.98, covered


def coverage(examples: int, share: float, right: float, wrong: float, size: int) -> float:
    """Return how often the interval holds the true share of right cases: a sum over all that can be seen."""
    truth, total = share * right + (1 - share) * wrong, 0.0
    for passed, chance in chances(examples, share):
        first, second = min(size, passed), min(size, examples - passed)
        for one, by_one in chances(first, right):
            for two, by_two in chances(second, wrong):
                score = corrected_score(rate(passed, examples), *reread((one, first), (two, second)))
                low, high = ends(score)
                total += chance * by_one * by_two * (low <= truth <= high)
    return total


def chances(total: int, share: float) -> list[tuple[int, float]]:
    """Return how likely each number of successes is, without what is hardly ever seen."""
    found = [(k, comb(total, k) * share**k * (1 - share) ** (total - k)) for k in range(total + 1)]
    return [(k, chance) for k, chance in found if chance > 1e-5]


# Wrong gold of an example turns all its verdicts; trials of one example are alike, more or less.
@pytest.mark.parametrize(("trials", "alike"), [(4, 0.2), (4, 0.8), (8, 0.5)])
def test_it_covers_the_true_share_at_several_trials(trials: int, alike: float) -> None:
    random, draws, held = Random(5), 400, 0
    share, wrong_gold = 0.7, 0.1
    truth = share * (1 - wrong_gold) + (1 - share) * wrong_gold
    for _ in range(draws):
        examples = [drawn_example(random, trials, share, wrong_gold, alike) for _ in range(80)]
        stated = rate_of(summed([(trials, sum(verdicts)) for verdicts, _ in examples]))
        cases = [
            [("passed" if verdict else "failed", (number, verdict != is_wrong)) for verdict in verdicts]
            for number, (verdicts, is_wrong) in enumerate(examples)
        ]
        strata = one_trial_each(cases, str(random.random()))
        sums = []
        for verdict, found in strata.items():
            read = sample_of_each({verdict: found}, {verdict: 20}, str(random.random()))
            sums.append(summed([(trials, trials * is_right) for _, is_right in read]))
        low, high = ends(corrected_score(stated, *sums))
        held += low <= truth <= high
    assert 0.92 <= held / draws <= 0.995


def drawn_example(
    random: Random, trials: int, share: float, wrong_gold: float, alike: float
) -> tuple[list[bool], bool]:
    """Return the verdicts of an example's trials, and whether its gold is wrong."""
    spread = 1 / alike - 1
    chance = random.betavariate(share * spread, (1 - share) * spread)
    return [random.random() < chance for _ in range(trials)], random.random() < wrong_gold


def ends(score: CorrectedScore) -> tuple[float, float]:
    found = Interval(-1, 2) if score.low is None or score.high is None else Interval(score.low, score.high)
    return found.low, found.high


def width(score: CorrectedScore) -> float:
    low, high = ends(score)
    return high - low
