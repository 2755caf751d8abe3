"""The share of wrong gold: its model by hand, its laws, and its coverage where labellers are simulated."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.label_noise import GoldCounts, LabelNoise, error_rate, label_noise

SIZES = st.integers(0, 500)


@st.composite
def tallies(draw: st.DrawFn) -> tuple[int, int]:
    pairs = draw(st.integers(1, 400))
    return pairs, draw(st.integers(0, pairs))


def test_by_hand() -> None:
    # e = .1: a fifth of 18 in 100 pairs differ, and of those that agree one in 82 is wrong twice.
    assert error_rate(0.18) == pytest.approx(0.1)
    noise = label_noise(GoldCounts(single=100, agreed=82, decided=18), 100, 18)
    assert noise.share == pytest.approx((100 * 0.1 + 82 * 0.01 / 0.82 + 18 * 0.1) / 200)
    bounds = LabelNoise(0.05, 0.1, 100, 18, GoldCounts()).bounds(0.95)
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((0.85, 1.0))


@pytest.mark.parametrize(
    ("gold", "pairs", "reason"),
    [
        (GoldCounts(), 40, "there is no gold"),
        (GoldCounts(imported=9), 40, "all gold was imported"),
        (GoldCounts(single=4, imported=5), 40, "most gold was imported"),
        (GoldCounts(agreed=9), 0, "too few examples have two labels"),
    ],
)
def test_what_is_unknown_is_said_and_is_never_nought(gold: GoldCounts, pairs: int, reason: str) -> None:
    noise = label_noise(gold, pairs, 0)
    assert (noise.share, noise.high, noise.bounds(0.5), noise.reason) == (None, None, None, reason)
    with pytest.raises(ValueError):
        label_noise(gold, 3, 4)


@given(tallies(), SIZES, SIZES, SIZES)
def test_it_is_above_nought_at_most_a_half_and_rises_with_what_differs(tally, single, agreed, decided) -> None:
    pairs, differing = tally
    gold = GoldCounts(single + 1, agreed, decided, (single + agreed + decided) // 2)
    noise = label_noise(gold, pairs, differing)
    assert noise.share is not None
    assert noise.high is not None
    assert 0 <= noise.share <= noise.high <= 0.5
    # Even where no pair differs, so few pairs cannot show that no gold is wrong.
    assert noise.high > 0
    if differing:
        less = label_noise(gold, pairs, differing - 1)
        assert less.share is not None
        assert less.share <= noise.share
    # Of two labels that differ one is wrong: no error rate below half of what differs explains it.
    assert error_rate(differing / pairs) >= differing / pairs / 2 - 1e-12


@pytest.mark.parametrize("error", [0.01, 0.05, 0.15])
def test_the_upper_end_holds_the_gold_that_simulated_labellers_get_wrong(error: float) -> None:
    random, held, wrong, estimated = Random(17), 0, 0.0, 0.0
    draws, doubles, singles = 200, 100, 50
    for _ in range(draws):
        both = [(random.random() < error, random.random() < error) for _ in range(doubles)]
        differing = sum(one != other for one, other in both)
        decided = sum(random.random() < error for _ in range(differing))
        alone = sum(random.random() < error for _ in range(singles))
        gold = GoldCounts(singles, doubles - differing, differing)
        noise = label_noise(gold, doubles, differing)
        assert noise.share is not None
        assert noise.high is not None
        expected = ((singles + differing) * error + sum(one and other for one, other in both)) / gold.total
        wrong += (alone + decided + sum(one and other for one, other in both)) / gold.total
        estimated += noise.share
        held += noise.high >= expected
    assert held / draws >= 0.94
    assert estimated / draws == pytest.approx(wrong / draws, rel=0.15)
