"""Read the formats of a run's uploaded predictions, and what was left out of them or of an agent's answers."""

from __future__ import annotations

from toolevals.grading.reading.reading_report import Readings
from toolevals.runs.models import Run


def run_readings(run: Run) -> Readings | None:
    """Return the formats and losses of a run's file, or the losses of the answers; None where none are known."""
    if run.job is None:
        return None
    return Readings.of_report(run.job.report) or None
