"""Sum traces up once nothing has come for a while, and again when more has come.

The rows are the queue: a trace is due at a time that its last batch set. The worker that takes one moves that time on,
and writes only where nothing new has come meanwhile. So a process that is killed leaves a trace that is due again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils.module_loading import import_string

from toolevals.grading.failures import Failure
from toolevals.grading.values import ToolSpec
from toolevals.registry.policies.queries import policies_in_force
from toolevals.traces.intake.models import came_at
from toolevals.traces.judges.services import questions_note
from toolevals.traces.models import SpanVerdict, ToolUse, Trace, TraceJudge, TracePolicy, TraceSettings
from toolevals.traces.policies.rules import policy_rule
from toolevals.traces.production.trace_hours import trace_hours_reopen
from toolevals.traces.reading.calls import UsedTool, used_tools
from toolevals.traces.reading.chunks import registered_tools, spans_of
from toolevals.traces.reading.failures import failures_in
from toolevals.traces.reading.limits import Limits
from toolevals.traces.reading.rules import Rule, RuleVerdict, verdicts_of
from toolevals.traces.reading.safety import safety_guard
from toolevals.traces.reading.summary import Summary, clean, moment, summary_of
from toolevals.traces.reading.traces import TraceReading, trace_read
from toolevals.workspace.bulk import others_write_first, rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

logger = logging.getLogger(__name__)

# Taken at once, and seconds after which another may take what was not done.
AT_ONCE = 20
TAKEN_SECONDS = 120
AGAIN_SECONDS = 3600
# Counts of a hostile sender stay within a column.
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class _Asked:
    """Holds what a project asks of each trace: limits, judges that are on, policies, and tools by names."""

    limits: Limits
    judges: Sequence[TraceJudge]
    tools: Mapping[str, ToolSpec]
    policies: Sequence[tuple[TracePolicy, Rule]]

    @classmethod
    def of(cls, project: Project) -> Self:
        return cls(
            replace(TraceSettings.of(project).limits, guard=safety_guard(policies_in_force(project))),
            list(TraceJudge.objects.switched_on(project)),
            registered_tools(project),
            [(each, policy_rule(each.policy)) for each in TracePolicy.objects.in_project(project)],
        )


def traces_settle(*, seconds: float = 20.0) -> int:
    """Sum up the traces that are due, so long at most; return how many."""
    until, done = monotonic() + seconds, 0
    while monotonic() < until and (taken := traces_take(database_now())):
        # What is not begun in half of the time for which it is taken is left to others.
        until_left = monotonic() + TAKEN_SECONDS / 2
        asked: dict[UUID, _Asked] = {}
        for trace in taken:
            if monotonic() >= until_left:
                break
            if trace.project_id not in asked:
                asked[trace.project_id] = _Asked.of(trace.project)
            done += _tried(trace, asked[trace.project_id])
        others_write_first()
    return done


def traces_take(now: datetime) -> list[Trace]:
    """Claim traces that are due: no one else takes them for a while."""
    due = Trace.objects.due(now)
    if not due.exists():
        return []
    with transaction.atomic():
        taken = list(due.select_for_update(skip_locked=True, no_key=True)[:AT_ONCE])
        Trace.objects.filter(pk__in=[each.pk for each in taken]).update(due_at=now + timedelta(seconds=TAKEN_SECONDS))
    return taken


def _tried(trace: Trace, asked: _Asked) -> bool:
    """Sum up a trace. One that no one can sum up stands in no other's way: it is tried again after a longer while."""
    try:
        return _settle(trace, asked)
    except DatabaseError:
        raise
    except Exception:
        logger.exception("The trace %s cannot be summed up.", trace.pk)
        later = database_now() + timedelta(seconds=AGAIN_SECONDS)
        Trace.objects.filter(pk=trace.pk, arrivals=trace.arrivals).update(due_at=later)
        return False


def trace_settle(*, trace: Trace) -> bool:
    """Sum up one trace and ask the rules; return whether that is written: not where more has come meanwhile."""
    return _settle(trace, _Asked.of(trace.project))


def _settle(trace: Trace, asked: _Asked) -> bool:
    read = trace_read(spans_of(trace))
    used = used_tools(read, asked.tools)
    summary = summary_of(read, used)
    verdicts = verdicts_of(read, used, asked.limits, [rule for each, rule in asked.policies if each.takes(trace)])
    failures = _failures(trace, read, used, verdicts)
    with transaction.atomic():
        fields = _fields(summary) | {"due_at": None, "settled": trace.arrivals}
        if not Trace.objects.filter(pk=trace.pk, arrivals=trace.arrivals).update(**fields):
            return False
        if trace.settled:
            ToolUse.objects.filter(trace=trace).delete()
            SpanVerdict.objects.filter(trace=trace, judge=None).delete()
        _uses_insert(trace, summary, used)
        _verdicts_insert(trace, verdicts)
        for path in settings.TRACE_FAILURES:
            import_string(path)(trace=trace, agent=fields["agent"], version=fields["agent_version"], failures=failures)
        if trace.settled != trace.arrivals:
            # Where nothing new came, rules alone are asked again.
            questions_note(trace, read, asked.judges, database_now())
        trace_hours_reopen(trace.project_id, [came_at(trace.pk)])
    return True


def _failures(
    trace: Trace, read: TraceReading, used: Sequence[UsedTool], verdicts: Sequence[RuleVerdict]
) -> tuple[Failure, ...]:
    """Return what failed in a trace. A defect of ours there is logged: the trace is summed up without its failures."""
    try:
        return failures_in(read, used, verdicts)
    except Exception:
        logger.exception("The failures of the trace %s are not known.", trace.pk)
        return ()


def _fields(summary: Summary) -> dict[str, object]:
    return {
        "name": clean(summary.name, 200),
        "started_at": moment(summary.start),
        "duration_ms": (summary.end - summary.start) / 1e6,
        "model": clean(summary.model, 120),
        "agent": clean(summary.agent, 120),
        "agent_version": clean(summary.agent_version, 80),
        "session": clean(summary.session, 200),
        "end_user": clean(summary.user, 200),
        "input_tokens": _within(summary.input_tokens),
        "output_tokens": _within(summary.output_tokens),
        "cost": summary.cost,
        "calls": summary.calls,
        "failed_calls": summary.failed_calls,
        "is_cut": summary.is_cut,
        "tools": [clean(tool, 200) for tool in summary.tools],
        "error_classes": list(summary.error_classes),
        "error": clean(summary.error, 500),
        "request": clean(" ".join(summary.request.split()), 300),
        "text": clean(summary.text, len(summary.text)),
    }


def _uses_insert(trace: Trace, summary: Summary, used: Sequence[UsedTool]) -> None:
    names = (
        "trace_id", "project_id", "span_id", "number", "tool", "came_at", "duration_ms", "error_class",
        "arguments_fit", "problem", "agent", "agent_version",
    )  # fmt: skip
    agent, version = clean(summary.agent, 120), clean(summary.agent_version, 80)
    rows_insert(
        ToolUse,
        names,
        [
            (
                trace.pk, trace.project_id, each.span_id, number, clean(each.tool, 200), came_at(trace.pk),
                each.duration_ms, each.error_class, each.arguments_fit, clean(each.problem, 300), agent, version,
            )
            for number, each in enumerate(used)
        ],
    )  # fmt: skip


def _verdicts_insert(trace: Trace, verdicts: Sequence[RuleVerdict]) -> None:
    names = ("trace_id", "project_id", "number", "span_id", "rule", "version", "status", "value", "reason")
    rows = [
        (
            trace.pk, trace.project_id, number, each.span_id, each.rule, each.version, each.status, each.value,
            clean(each.reason, 500),
        )
        for number, each in enumerate(verdicts)
    ]  # fmt: skip
    rows_insert(SpanVerdict, names, rows)


def _within(count: int | None) -> int | None:
    return None if count is None else max(0, min(count, _MOST))
