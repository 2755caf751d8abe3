"""Puts a score that a re-reading corrected into words."""

from __future__ import annotations

from toolevals.grading.metrics.rereading import CorrectedScore
from toolevals.presentation.numbers import count, percent, span


def corrected_words(score: CorrectedScore, *, passed: int, failed: int, unscored: int) -> str:
    """Return what a re-reading says the score is, and how many passed and failed cases people judged for it."""
    if score.value is None or score.low is None or score.high is None:
        return f"Re-reading: the corrected score is unknown, {score.reason}."
    read = f"people judged {count(passed)} passed and {count(failed)} failed cases, drawn by chance"
    beside = f"; {count(unscored)} they could not judge" if unscored else ""
    return f"Re-reading: {read}{beside}. Corrected score: {percent(score.value)} % ({span(score.low, score.high)})."
