"""Tell what workers do for runs; each task takes a batch's id and calls one service."""

from __future__ import annotations

from toolevals.celery import app
from toolevals.runs.aggregates.build import grading_roll_up
from toolevals.runs.baseline.services import transcripts_produce
from toolevals.runs.drift import services as drifting
from toolevals.runs.drift.services import drift_ask
from toolevals.runs.grading.case_grading import cases_grade
from toolevals.runs.judge_calibrations.services import calibration_prepare
from toolevals.runs.judging.case_judging import cases_judge
from toolevals.runs.live.services import transcripts_converse
from toolevals.runs.probes import services as probing
from toolevals.runs.rubrics import services as tryouts
from toolevals.runs.runs.ingesting import transcripts_ingest
from toolevals.runs.simulators import services as simulators
from toolevals.workspace.jobs.leases import batch_work


@app.task(name="runs.produce")
def produce(batch_id: str) -> None:
    """Let the baseline answer a part of a run's examples."""
    batch_work(batch_id, transcripts_produce)


@app.task(name="runs.converse")
def converse(batch_id: str) -> None:
    """Let a live agent answer a part of a run's examples."""
    batch_work(batch_id, transcripts_converse)


@app.task(name="runs.ingest")
def ingest(batch_id: str) -> None:
    """Read a run's uploaded predictions."""
    batch_work(batch_id, transcripts_ingest)


@app.task(name="runs.grade")
def grade(batch_id: str) -> None:
    """Grade a part of a run's transcripts."""
    batch_work(batch_id, cases_grade)


@app.task(name="runs.judge")
def judge(batch_id: str) -> None:
    """Ask the judges of a grading about a part of its cases."""
    batch_work(batch_id, cases_judge)


@app.task(name="runs.calibrate")
def calibrate(batch_id: str) -> None:
    """Write down what a judge was given in a part of a calibration's cases."""
    batch_work(batch_id, calibration_prepare)


@app.task(name="runs.drift")
def drift(batch_id: str) -> None:
    """Ask a judge again about a part of a calibration's cases."""
    batch_work(batch_id, drift_ask)


@app.task(name="runs.drift_count")
def drift_count(batch_id: str) -> None:
    """Count a check for drift whose answers are all there."""
    batch_work(batch_id, drifting.drift_count)


@app.task(name="runs.probes")
def probes_ask(batch_id: str) -> None:
    """Ask a judge about probes."""
    batch_work(batch_id, probing.probes_ask)


@app.task(name="runs.tryout_draw")
def tryout_draw(batch_id: str) -> None:
    """Draw the cases that a rubric is tried on."""
    batch_work(batch_id, tryouts.tryout_draw)


@app.task(name="runs.tryout_ask")
def tryout_ask(batch_id: str) -> None:
    """Ask a rubric that is tried about its cases."""
    batch_work(batch_id, tryouts.tryout_ask)


@app.task(name="runs.simulator_add")
def simulator_add(batch_id: str) -> None:
    """Find out which tools a simulator answers, and keep it."""
    batch_work(batch_id, simulators.simulator_add)


@app.task(name="runs.rollup")
def roll_up(batch_id: str) -> None:
    """Count a grading whose cases are all there."""
    batch_work(batch_id, grading_roll_up)
