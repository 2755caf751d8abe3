"""What the uploaded predictions of a run were read from, and what was left out of them."""

from __future__ import annotations

from toolevals.grading.readings import Readings
from toolevals.runs.models import Connector, Run


def run_readings(run: Run) -> Readings | None:
    """Return the formats and losses of a run's file; None where nothing is known of them, or the run asked an agent."""
    if run.subject.connector != Connector.UPLOAD or run.job is None:
        return None
    return Readings.of_report(run.job.report) or None
