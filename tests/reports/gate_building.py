"""Gates held against runs, decided as a worker would."""

from __future__ import annotations

from typing import Any

from reports.gates.services import GateRequest, gate_decide, gate_hold
from reports.models import HeldGate
from toolevals.grading.gates.results import Check
from toolevals.runs.models import Run
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import Batch


def hold(run: Run, document: Any, **options: Any) -> HeldGate:
    """Return the run's gate, decided."""
    held = gate_hold(run=Run.objects.get(pk=run.pk), actor=None, request=GateRequest(document, **options))
    batch_work(str(Batch.objects.get(job=held.job).pk), gate_decide)
    return HeldGate.objects.get(pk=held.pk)


def rate(metric: str, minimum: float, **rest: Any) -> dict[str, Any]:
    """Return a gate with one bound."""
    return {"bounds": [{"metric": metric, "min": minimum, **rest}]}


def checks(held: HeldGate) -> tuple[Check, ...]:
    """Return the checks of a gate that is decided."""
    assert held.outcome is not None
    return held.outcome.checks
