from math import comb

import pytest

from toolevals.grading.metrics.comparison import (
    fewest_changed,
    mcnemar,
    smallest_detectable,
    smallest_detectable_mean,
    smallest_significant,
)


def test_six_discordant_examples_are_the_fewest_at_five_percent():
    assert smallest_significant(300) == 6 / 300
    assert smallest_significant(6) == 1
    assert smallest_significant(5) is None
    assert smallest_significant(100, alpha=0.01) == 8 / 100


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.05 / 3, 0.05 / 200])
def test_fewer_changed_examples_are_never_found(alpha):
    fewest = fewest_changed(alpha)
    assert mcnemar(0, fewest) <= alpha < mcnemar(0, fewest - 1)


def test_a_difference_of_means_by_hand():
    # (1.95996 + 0.84162)·.5/√49 = .20011.
    assert smallest_detectable_mean(49, 0.5) == pytest.approx(0.20011, abs=1e-5)
    assert smallest_detectable_mean(49, 0) is None
    assert smallest_detectable_mean(0, 0.5) is None


def test_connors_formula_by_hand():
    # (1.95996·√.2 + 0.84162·√(.2 - .01))²/.01 = 154.7 examples find a difference of .1.
    assert smallest_detectable(155, 0.2) == pytest.approx(0.1, abs=2e-4)


@pytest.mark.parametrize(("examples", "discordant"), [(200, 0.2), (400, 0.1)])
def test_the_exact_test_has_about_that_power(examples, discordant):
    difference = smallest_detectable(examples, discordant)
    assert difference is not None
    better = (discordant + difference) / 2 / discordant
    found = 0.0
    for changed in range(examples + 1):
        chance = comb(examples, changed) * discordant**changed * (1 - discordant) ** (examples - changed)
        if chance < 1e-9:
            continue
        found += chance * sum(
            comb(changed, up) * better**up * (1 - better) ** (changed - up)
            for up in range(changed + 1)
            if mcnemar(changed - up, up) <= 0.05
        )
    # The exact test is a little more careful than the formula.
    assert 0.7 < found < 0.82


def test_more_examples_show_less():
    found = [smallest_detectable(examples, 0.15) or 1 for examples in (100, 300, 1000, 10_000)]
    assert found == sorted(found, reverse=True)


def test_what_cannot_be_found_is_none():
    assert smallest_detectable(10, 0.1) is None
    assert smallest_detectable(0, 0.1) is None
    assert smallest_detectable(100, 0.0) is None


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError):
        smallest_detectable(100, 1.2)
    with pytest.raises(ValueError):
        smallest_detectable(100, 0.1, alpha=0)
    with pytest.raises(ValueError):
        smallest_detectable(100, 0.1, power=1)
    with pytest.raises(ValueError):
        smallest_significant(100, alpha=1)
    with pytest.raises(ValueError):
        smallest_detectable_mean(100, -0.1)
