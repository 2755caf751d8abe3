"""Tell what wrong gold could do to a score, in words."""

from __future__ import annotations

from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.presentation.numbers import count, percent, span


def score_words(noise: LabelNoise, score: float | None) -> str:
    """Return where wrong gold could put a score of 0..1, and what that rests on; without a score nothing."""
    if score is None:
        return ""
    bounds = noise.bounds(score)
    if bounds is None:
        return f"Label noise is unknown: {noise.reason}."
    could = f"The score could be anywhere from {span(bounds.low, bounds.high)} %."
    return f"{_rests_on(noise)} {could} {_limit(noise)}"


def change_words(noise: LabelNoise) -> str:
    """Return what wrong gold could do to the difference of two scores on the same gold."""
    if noise.high is None:
        return f"Label noise is unknown: {noise.reason}."
    could = f"It could move the difference by up to {percent(min(1.0, 2 * noise.high))} points."
    return f"{_rests_on(noise)} {could} {_limit(noise)}"


def short_words(noise: LabelNoise | None) -> str:
    """Return the points by which wrong gold could move a score, as "±2.3"; empty where that is unknown."""
    return f"±{percent(noise.high)}" if noise and noise.high is not None else ""


def _rests_on(noise: LabelNoise) -> str:
    verb = "differs" if noise.differing == 1 else "differ"
    pairs = f"{count(noise.differing)} of {count(noise.pairs)} pairs of first labels {verb}"
    return f"Label noise: {pairs}, an estimate of up to {percent(noise.high)} % wrong gold."


def _limit(noise: LabelNoise) -> str:
    words = "It is a lower limit"
    if imported := noise.gold.imported:
        return f"{words}: the gold of {count(imported)} of {count(noise.gold.total)} examples was imported."
    return f"{words}."
