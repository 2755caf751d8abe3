"""Works out the chances of how many trials of one example pass, where trials of an example are alike."""

from __future__ import annotations

from math import comb, exp, lgamma


def beta_binomial(trials: int, rate: float, correlation: float) -> list[float]:
    """Return the chance that 0, 1, 2, ... trials of one example pass; two trials have this correlation."""
    if correlation <= 0:
        return [binomial(trials, passed, rate) for passed in range(trials + 1)]
    size = (1 - correlation) / correlation
    a, b = rate * size, (1 - rate) * size
    return [
        comb(trials, passed) * exp(_log_beta(passed + a, trials - passed + b) - _log_beta(a, b))
        for passed in range(trials + 1)
    ]


def binomial(trials: int, passed: int, rate: float) -> float:
    """Return the chance that so many of independent trials pass."""
    return comb(trials, passed) * rate**passed * (1 - rate) ** (trials - passed)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
