"""How small a difference between two runs a dataset can show at all."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from toolevals.grading.metrics.comparison import mcnemar


def smallest_significant(examples: int, alpha: float = 0.05) -> float | None:
    """Return the smallest difference of two pass rates that the exact McNemar test can find significant at all.

    It is d/examples, where d is the fewest discordant examples, all in one direction, with 2·(1/2)^d <= alpha: six of
    them at .05. None where the examples are fewer: then no outcome is significant. Raises ValueError unless 0 < alpha <
    1.
    """
    _check_share(alpha, "alpha")
    discordant = 1
    while mcnemar(0, discordant) > alpha:
        discordant += 1
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


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} is between 0 and 1, both excluded")
