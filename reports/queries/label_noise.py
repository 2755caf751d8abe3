"""Read what wrong gold could do to the outcome of a grading, and to the difference of two runs."""

from __future__ import annotations

from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.runs.counts.label_noise import run_noise
from toolevals.runs.models import Grading
from toolevals.workspace.models import User


def grading_noise(grading: Grading, *, actor: User | None = None, begin: bool = False) -> LabelNoise:
    """Return the label noise of the gold that a grading used. `begin` lets a job count a large dataset's labels."""
    return run_noise(grading.run, grading.dataset_version, actor=actor, begin=begin)


def noisier(gradings: tuple[Grading, Grading]) -> LabelNoise:
    """Return the label noise of the gold of two gradings: of two versions the larger, or what is unknown."""
    first, second = map(grading_noise, gradings)
    if first.high is None or second.high is None:
        return first if first.high is None else second
    return first if first.high >= second.high else second
