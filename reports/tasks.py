"""Define the background work of `reports`: most tasks take a batch's id, each calls one service."""

from __future__ import annotations

from reports.dialects import grade_with_dialects as making
from reports.downloads.services import bundle_work, table_work
from reports.dropped import preview as looking
from reports.gates.services import gate_decide
from reports.guard.measuring import rates_measure
from reports.suspects import services as counting
from reports.tool_drift import services as watching
from toolevals.celery import app
from toolevals.workspace.jobs.leases import batch_work


@app.task(name="reports.downloads.services")
def bundle(batch_id: str) -> None:
    """Write the zip of a run."""
    batch_work(batch_id, bundle_work)


@app.task(name="reports.table")
def table(batch_id: str) -> None:
    """Write a long table of a run."""
    batch_work(batch_id, table_work)


@app.task(name="reports.gate")
def gate(batch_id: str) -> None:
    """Hold a run against a gate."""
    batch_work(batch_id, gate_decide)


@app.task(name="reports.suspects_count")
def suspects_count(batch_id: str) -> None:
    """Count what speaks against a dataset version's gold."""
    batch_work(batch_id, counting.suspects_count_work)


@app.task(name="reports.dialects_part")
def dialects_part(batch_id: str) -> None:
    """Read a part of a grading's cases by the rules of other evaluators."""
    batch_work(batch_id, making.dialects_part)


@app.task(name="reports.dialects_count")
def dialects_count(batch_id: str) -> None:
    """Count what other tools say of a grading's cases."""
    batch_work(batch_id, making.dialects_count)


@app.task(name="reports.file_look")
def file_look(batch_id: str) -> None:
    """Look at a large file that was dropped."""
    batch_work(batch_id, looking.file_look_work)


@app.task(name="reports.policy_rates")
def policy_rates(batch_id: str) -> None:
    """Measure the rules of a policy's version."""
    batch_work(batch_id, rates_measure)


@app.task(name=watching.TASK)
def sources_look() -> None:
    """Look at the sources of tools that are due."""
    watching.sources_look()
