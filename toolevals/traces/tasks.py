"""Tell what workers do for traces, and the sweeper's doorbell for it: the rows are the queue."""

from __future__ import annotations

from datetime import datetime

from toolevals.celery import app
from toolevals.traces.judges.services import traces_judge
from toolevals.traces.models import Trace, TraceQuestion
from toolevals.traces.promotion.asking_today import today_runs
from toolevals.traces.promotion.drawing import promotion_draw
from toolevals.traces.promotion.making import traces_promote
from toolevals.traces.promotion.services import promotion_delete
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.jobs.turns import can_ring, ring_task
from toolevals.workspace.models import Queue


@app.task(name="traces.settle")
def settle() -> None:
    """Sum up the traces that are due."""
    traces_settle()


@app.task(name="traces.judge")
def judge() -> None:
    """Ask the questions to judges that are due."""
    traces_judge()


@app.task(name="traces.draw")
def draw(batch_id: str) -> None:
    """Draw the traces that become examples."""
    batch_work(batch_id, promotion_draw)


@app.task(name="traces.promote")
def promote(batch_id: str) -> None:
    """Create examples from traces."""
    batch_work(batch_id, traces_promote)


@app.task(name="traces.undo")
def undo(batch_id: str) -> None:
    """Delete the examples of a promotion that is undone."""
    batch_work(batch_id, promotion_delete)


@app.task(name="traces.today")
def today(batch_id: str) -> None:
    """Start a run of what production did, and one of a live agent on the same examples."""
    batch_work(batch_id, today_runs)


def traces_due(now: datetime) -> None:
    """Ring where a trace is due. A broker that is down is logged: the next round rings again."""
    if can_ring() and Trace.objects.due(now).exists():
        ring_task("traces.settle", Queue.IO)


def questions_due(now: datetime) -> None:
    """Ring where a judge is to be asked about a trace."""
    if can_ring() and TraceQuestion.objects.due(now).exists():
        ring_task("traces.judge", Queue.JUDGE)
