"""Make examples of traces: a job draws them and imports one unlabelled example for each turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from labeling.models import Dataset, Example
from labeling.services import examples_import
from toolevals.grading.reading.examples import ExampleRow, first_words
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.chunks import spans_of
from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import Trace, TraceExample
from toolevals.traces.reading.traces import trace_read
from toolevals.traces.reading.turns import TurnInput, turns_of
from toolevals.traces.sampling import traces_draw
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.jobs import BatchPlan, Lease, job_add_batches, job_create
from toolevals.workspace.models import Job, User
from toolevals.workspace.services import audit_record

KIND = "promotion"
MOST = 1_000
# Traces whose examples are imported in one transaction.
AT_ONCE = 5
_NAMED = 20


@dataclass(frozen=True, slots=True)
class PromotionRequest:
    """Which traces become examples of which dataset: `traces` by hand, or `count` drawn from a filter by a seed."""

    dataset: Dataset
    wanted: Mapping[str, str]
    count: int
    seed: int
    traces: tuple[UUID, ...] = ()


@transaction.atomic
def promotion_start(*, request: PromotionRequest, actor: User | None) -> Job:
    """Begin to make examples of traces; return the job."""
    dataset = request.dataset
    count = len(request.traces) or min(request.count, MOST)
    payload = {
        "dataset": str(dataset.pk),
        "wanted": dict(request.wanted),
        "count": count,
        "seed": request.seed,
        "traces": [str(pk) for pk in request.traces],
    }
    plan = BatchPlan("traces.draw", payload, size=1)
    job = job_create(
        project=dataset.project,
        actor=actor,
        kind=KIND,
        title=f"Make examples of traces in {dataset.name}",
        batches=[plan],
    )
    job.result_path = f"{reverse('traces:promote', args=[dataset.project.slug])}?job={job.pk}"
    job.save(update_fields=["result_path"])
    detail = {"dataset": dataset.slug, "seed": request.seed, "count": count, "filter": dict(request.wanted)}
    audit_record(project=dataset.project, actor=actor, verb="promotion_start", target=job, detail=detail)
    return job


def promotion_draw(lease: Lease) -> None:
    """Draw the traces, once: what is promoted of them later does not change the sample."""
    payload, job = lease.payload, lease.batch.job
    drawn = payload["traces"] or [
        str(pk) for pk in traces_draw(job.project, TraceFilter.of(payload["wanted"]), payload["count"], payload["seed"])
    ]
    plan = BatchPlan("traces.promote", {"dataset": payload["dataset"], "traces": drawn}, size=len(drawn), stage=1)
    with lease.finish():
        job_add_batches(job, [plan] if drawn else [])
        if not drawn:
            lease.report(_Found.nothing())


def traces_promote(lease: Lease) -> None:
    """Make the examples. What was imported before a kill is found by its name, and changes nothing."""
    payload, job = lease.payload, lease.batch.job
    dataset = Dataset.objects.select_related("project", "default_tools__tools").get(pk=payload["dataset"])
    drawn = [UUID(pk) for pk in payload["traces"]]
    found = _Found(dataset, job.actor)
    for at in range(0, len(drawn), AT_ONCE):
        some = Trace.objects.in_project(dataset.project).filter(pk__in=drawn[at : at + AT_ONCE])
        with lease.transaction():
            for trace in some.order_by("pk"):
                found.add(trace)
        lease.progress(min(at + AT_ONCE, len(drawn)))
        others_write_first()
    with lease.finish():
        lease.report(found.report(len(drawn)))


class _Found:
    """What a job has made so far. Turns that ask the same as another are folded into it."""

    def __init__(self, dataset: Dataset, actor: User | None) -> None:
        self.dataset, self.actor = dataset, actor
        self.made = self.folded = 0
        self.left_out: list[dict[str, str]] = []
        self._asked: set[str] = set()

    def add(self, trace: Trace) -> None:
        turns = turns_of(trace_read(spans_of(trace)))
        if not turns:
            self._leave_out(trace, "no turn that called a tool, or could have")
        rows = list(self._rows(trace, turns))
        for row, turn in rows:
            try:
                examples_import(dataset=self.dataset, actor=self.actor, rows=[row])
            except InvalidDocument as error:
                self._leave_out(trace, f"{error.problems[0].pointer} {error.problems[0].message}".strip())
                continue
            example = Example.objects.get(dataset=self.dataset, external_id=row.external_id)
            TraceExample.objects.get_or_create(
                example=example, defaults={"project_id": trace.project_id, "trace": trace, "turn": turn.number}
            )
            self.made += 1

    def _rows(self, trace: Trace, turns: list[TurnInput]) -> Iterator[tuple[ExampleRow, TurnInput]]:
        for turn in turns:
            key = _likeness(turn)
            if key in self._asked:
                self.folded += 1
                continue
            self._asked.add(key)
            yield ExampleRow(f"trace-{trace.trace_id.hex}-{turn.number}", turn.input, turn.tools or None), turn

    def _leave_out(self, trace: Trace, reason: str) -> None:
        if len(self.left_out) < _NAMED:
            self.left_out.append({"id": trace.trace_id.hex, "reason": reason})

    @classmethod
    def nothing(cls) -> dict[str, Any]:
        """Return the report of a sample without a trace."""
        return {"drawn": 0, "made": 0, "folded": 0, "left_out": [], "dataset": ""}

    def report(self, drawn: int) -> dict[str, Any]:
        """Return what the job's page shows."""
        return {
            "drawn": drawn,
            "made": self.made,
            "folded": self.folded,
            "left_out": self.left_out,
            "dataset": self.dataset.slug,
        }


def _likeness(turn: TurnInput) -> str:
    """Return what near-duplicates share: roles and words of all that was said, without case, and the tools' names."""
    said = []
    for message in turn.input["messages"]:
        words = first_words({"messages": [message | {"role": "user"}]}) or ""
        said.append([str(message.get("role")), " ".join(words.split()).casefold()])
    return digest([*said, sorted(tool.name for tool in turn.tools)])
