"""Work out how small a difference between two runs a dataset can show at all."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from toolevals.grading.metrics.comparison import mcnemar


def smallest_significant(examples: int, alpha: float = 0.05) -> float | None:
    """Return the smallest difference of two pass rates that the exact McNemar test can find significant at all.

    It is d/examples, where d is the fewest discordant examples, all in one direction (`fewest_changed`). None where the
    examples are fewer: then no outcome is significant. Raises ValueError unless 0 < alpha < 1.
    """
    discordant = fewest_changed(alpha)
    return discordant / examples if examples >= discordant else None


def smallest_detectable(
    examples: int, discordant_share: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest true difference of two pass rates that is found with probability `power`.

    `discordant_share` ψ is the share of examples that come out otherwise in the two runs. The difference δ solves
    examples = (z(1-alpha/2)·√ψ + z(power)·√(ψ - δ²))²/δ² (R. J. Connor, "Sample size for testing differences in
    proportions for the paired-sample design", Biometrics 43, 1987). None where even a difference of ψ, all in one
    direction, would not be found. Raises ValueError unless 0 <= ψ <= 1, 0 < alpha < 1 and 0 < power < 1.
    """
    _check_share(alpha, "alpha")
    _check_share(power, "power")
    if not 0 <= discordant_share <= 1:
        raise ValueError("the discordant share is between 0 and 1")
    if examples <= 0 or discordant_share == 0:
        return None
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)

    def needed(difference: float) -> float:
        spread = sqrt(max(0.0, discordant_share - difference * difference))
        return ((z_alpha * sqrt(discordant_share) + z_power * spread) / difference) ** 2

    low, high = 0.0, discordant_share
    if needed(high) > examples:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if needed(middle) > examples:
            low = middle
        else:
            high = middle
    return high


def smallest_detectable_mean(examples: int, spread: float, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest true difference of two paired means that is found with probability `power`.

    `spread` σ is the standard deviation of the examples' differences: δ = (z(1-alpha/2) + z(power))·σ/√examples, by the
    normal distribution (J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, 2.3.5). None without
    examples or spread. Raises ValueError on a negative spread and unless 0 < alpha < 1 and 0 < power < 1.
    """
    _check_share(alpha, "alpha")
    _check_share(power, "power")
    if spread < 0:
        raise ValueError("a spread is not negative")
    if examples <= 0 or spread == 0:
        return None
    return (NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)) * spread / sqrt(examples)


def fewest_changed(alpha: float = 0.05) -> int:
    """Return how many examples have to change, all in one direction, for a paired exact test to find it: six at .05.

    It holds for McNemar's test and for the sign-flip test, whose smallest p-value of d changed examples is 2·(1/2)^d.
    Raises ValueError unless 0 < alpha < 1.
    """
    _check_share(alpha, "alpha")
    changed = 1
    while mcnemar(0, changed) > alpha:
        changed += 1
    return changed


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} is between 0 and 1, both excluded")
