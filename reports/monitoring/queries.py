"""Read the figures of the whole installation with a few queries: counts and names of tools, never what was said.

They are gauges, for what the database holds may become less: what was deleted is not counted any more.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Case, Count, F, Min, Q, Sum, When
from django.db.models.functions import Coalesce, Greatest

from labeling.models import Label
from toolevals.runs.drift.models import DriftAnswer
from toolevals.runs.models import Judgement, ProbeAnswer, VerdictCount
from toolevals.runs.rubrics.models import TryoutAnswer
from toolevals.traces.judges.models import TraceJudgeDay
from toolevals.traces.models import TraceHour
from toolevals.traces.production.kept_hours import HOUR
from toolevals.traces.production.tool_counts import tool_counts
from toolevals.traces.production.tool_figures import ToolFigures, figures_of
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.sweeper import last_sweep
from toolevals.workspace.models import Batch, BatchState, Job, JobState, Project, Queue
from toolevals.workspace.monitoring.readiness import OK, parts
from toolevals.workspace.uploads.services import free_bytes

# The most called are shown by name; the others add up.
MOST_PROJECTS: Final = 20
MOST_TOOLS: Final = 20
# What is not shown by name. A tool of that name is counted with it.
OTHER: Final = "other"
LONGEST: Final = 100
# By then an hour's traces are summed up and its counts are kept.
_AFTER_THE_HOUR: Final = timedelta(minutes=10)
_QUANTILES: Final = {"0.5": 50, "0.95": 95}
_ANSWERS: Final = {"grading": Judgement, "probe": ProbeAnswer, "tryout": TryoutAnswer, "drift": DriftAnswer}


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric: its name without the prefix, what it says, the names of its labels, and its rows by their values."""

    name: str
    about: str
    labels: Sequence[str]
    # By tuples of texts, as many as there are labels.
    rows: Mapping[Any, float]


def figures() -> Iterator[Figure]:
    """Yield all figures; without the database, what can be said without it. Raises what the database raises."""
    states = parts()
    ready = {(name,): float(state == OK) for name, state in states.items()}
    yield Figure("ready", "1 where a part of the installation does its work, as /readyz says it.", ["part"], ready)
    yield Figure("disk_free_bytes", "Free bytes on the disk of the uploads.", [], {(): free_bytes()})
    if states["database"] == OK:
        for read in _READ:
            yield from read()


def _work() -> Iterator[Figure]:
    now = database_now()
    seen = last_sweep()
    about = "Seconds since a worker last gave a sign of life; none where none ever did."
    yield Figure("worker_silent_seconds", about, [], {} if seen is None else {(): (now - seen).total_seconds()})
    due = Batch.objects.filter(state=BatchState.QUEUED, due_at__lte=now, job__state=JobState.RUNNING)
    # Batches of later stages are due from the start of their job, and can be done once their stage has begun.
    begun = Greatest("due_at", Coalesce("job__pace_since", "due_at"))
    waits_since = Case(When(stage=0, then="due_at"), default=begun)
    depth = {str(each): 0.0 for each in Queue.values}
    age = dict(depth)
    due = due.filter(stage=F("job__stage")).order_by()
    for queue, count, since in due.values_list("queue").annotate(count=Count("pk"), since=Min(waits_since)):
        depth[queue], age[queue] = count, max((now - since).total_seconds(), 0.0)
    yield Figure("queue_batches", "Batches that wait for a worker.", ["queue"], _by_one(depth))
    yield Figure("queue_oldest_seconds", "How long the oldest of them has waited.", ["queue"], _by_one(age))
    held = Batch.objects.filter(state=BatchState.LEASED)
    counted = held.aggregate(at_work=Count("pk"), lost=Count("pk", filter=is_lost(now)))
    yield Figure("batches_at_work", "Batches that workers hold.", [], {(): counted["at_work"]})
    about = "Batches whose worker gave no sign of life in time, and that no other has taken yet."
    yield Figure("leases_lost", about, [], {(): counted["lost"]})


def is_lost(now: datetime) -> Q:
    """Return the condition on a batch at work that its worker gave no sign of life in time."""
    return Q(due_at__lt=now)


def _done() -> Iterator[Figure]:
    ends = (BatchState.DONE, BatchState.FAILED, BatchState.CANCELLED)
    ended = Batch.objects.filter(state__in=ends).order_by().values_list("queue", "state")
    # What has not happened yet is 0: a series that begins with 1 has not grown.
    batches = {(str(queue), str(state)): 0.0 for queue in Queue.values for state in ends}
    again = {str(queue): 0.0 for queue in Queue.values}
    for queue, state, count, attempts in ended.annotate(count=Count("pk"), attempts=Sum("attempts")):
        batches[queue, state] = count
        again[queue] += max(attempts - count, 0) if state != BatchState.CANCELLED else 0
    yield Figure("batches", "Batches that have ended.", ["queue", "state"], batches)
    about = "Attempts beyond the first at batches that are done or failed: after an error, or a lease that was lost."
    yield Figure("batch_attempts_again", about, ["queue"], _by_one(again))
    lately = Q(finished_at__gte=database_now() - HOUR)
    counted = Job.objects.order_by().values_list("kind", "state")
    jobs = list(counted.annotate(count=Count("pk"), lately=Count("pk", filter=lately)))
    of_all = {(kind, state): count for kind, state, count, _ in jobs}
    yield Figure("jobs", "Jobs by what they do.", ["kind", "state"], of_all)
    failed = {kind: 0.0 for kind, *_ in jobs} | {kind: n for kind, state, _, n in jobs if state == JobState.FAILED}
    yield Figure("jobs_failed_last_hour", "Jobs that failed within the last hour.", ["kind"], _by_one(failed))


def _grades() -> Iterator[Figure]:
    counts = VerdictCount.objects.filter(column="outcome").order_by().values_list("value").annotate(sum=Sum("count"))
    about = "Cases of finished gradings by their outcome; a case that is graded again counts again."
    yield Figure("graded_cases", about, ["outcome"], _by_one(dict(counts)))
    found = Label.objects.aggregate(all=Count("pk"), imported=Count("pk", filter=~Q(external_author="")))
    labels = {("given",): found["all"] - found["imported"], ("imported",): found["imported"]}
    yield Figure("labels", "Labels: given here, or imported with their author's name.", ["origin"], labels)


def _judges() -> Iterator[Figure]:
    questions, spend = {}, {}
    for purpose, model in _ANSWERS.items():
        sums = model._default_manager.aggregate(asked=Count("pk"), cost=Sum("cost"))
        questions[purpose], spend[purpose] = sums["asked"], sums["cost"] or 0.0
    sums = TraceJudgeDay.objects.aggregate(asked=Sum("questions"), cost=Sum("cost"))
    questions["traces"], spend["traces"] = sums["asked"] or 0, sums["cost"] or 0.0
    yield Figure("judge_questions", "Answers of judges, by what they were asked for.", ["purpose"], _by_one(questions))
    about = "What they cost, in the currency of the judges' prices; judges without prices count nothing."
    yield Figure("judge_spend", about, ["purpose"], _by_one(spend))


def _tools() -> Iterator[Figure]:
    hour = (database_now() - HOUR - _AFTER_THE_HOUR).replace(minute=0, second=0, microsecond=0)
    found = _by_project(hour)
    labels = ["project", "tool"]
    calls = {key: float(each.calls) for key, each in found.items()}
    yield Figure("tool_calls", "Calls in production in the newest whole hour that is counted.", labels, calls)
    errors = {key: float(each.failed) for key, each in found.items()}
    yield Figure("tool_errors", "Those of them that came back with an error.", labels, errors)
    latency = {
        (*key, quantile): milliseconds / 1000
        for key, each in found.items()
        for quantile, percent in _QUANTILES.items()
        if (milliseconds := each.percentile(percent)) is not None
    }
    yield Figure("tool_latency_seconds", "How long they took, within 1 %.", [*labels, "quantile"], latency)
    yield Figure("tool_hour_timestamp_seconds", "When that hour began.", [], {(): hour.timestamp()})


def _by_project(hour: datetime) -> dict[tuple[str, str], ToolFigures]:
    """Return the figures of an hour by the project's and the tool's name, of the most called ones; `other` adds up."""
    has_traces = TraceHour.objects.filter(hour=hour, project__in=Project.objects.values("pk")).values("project")
    times, nothing = (hour, hour + HOUR), {"tool": "", "agent": "", "version": ""}
    counted = [
        (project, figures_of(tool_counts(project, times, **nothing)))
        for project in Project.objects.filter(pk__in=has_traces).order_by("slug")
    ]
    counted.sort(key=lambda each: -sum(tool.calls for tool in each[1]))
    found: dict[tuple[str, str], ToolFigures] = {}
    for place, (project, tools) in enumerate(counted):
        is_named = place < MOST_PROJECTS
        names = shown_names([each.tool for each in tools[:MOST_TOOLS]]) if is_named else {}
        for each in tools:
            key = (project.slug if is_named else OTHER, names.get(each.tool, OTHER))
            total = found.setdefault(key, ToolFigures(key[1], ""))
            total.calls += each.calls
            total.errors.update(each.errors)
            total.durations.update(each.durations)
    return found


def _by_one(rows: Mapping[str, float]) -> dict[tuple[str, ...], float]:
    return {(name,): value for name, value in rows.items()}


_READ: Final[Sequence[Callable[[], Iterator[Figure]]]] = (_work, _done, _grades, _judges, _tools)


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Return what stands for each name, which comes from outside, on dashboards; different names stay different."""
    return {name: _shown(name) for name in names}


def _shown(name: str) -> str:
    """Return a name without what is not seen, and not too long; a changed one ends with a part of its hash."""
    seen = "".join(
        "\ufffd" if unicodedata.category(each).startswith(("C", "Z")) and each != " " else each for each in name
    )
    if seen == name and len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{seen[:LONGEST]}… {digest}"
