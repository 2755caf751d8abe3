"""Arguments of the addresses of traces: one that is summed up, made once, serves all of them."""

from __future__ import annotations

from uuid import UUID

from tests.access.world import Argument, World
from tests.traces.sending import conversation, export
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.models import Trace
from toolevals.traces.services import spans_store, trace_settle
from toolevals.workspace.models import User


def a_trace(world: World, person: User) -> UUID:
    """Return the id of the project's first trace; the first call makes it."""
    trace = Trace.objects.filter(project=world.project).order_by("pk").first()
    if trace is None:
        spans_store(project=world.project, traces=sorted_spans(export(*conversation())).traces)
        trace = Trace.objects.get(project=world.project)
        trace_settle(trace=trace)
    return UUID(str(trace.pk))


ARGUMENTS: dict[str, Argument] = {"trace": a_trace, "span": lambda *_: f"{3:016x}"}
