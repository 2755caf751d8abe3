"""Ask a live agent what production was asked: on the examples that were made of some traces, next to what it did then.

A job reads what production did in those turns, keeps it as a run of recorded transcripts, and starts a run of the live
agent on the same examples.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import F
from django.urls import reverse

from labeling.errors import InvalidAct
from labeling.models import Dataset, VersionEntry
from labeling.versions.services import version_freeze
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.runs.agents.services import agent_ensure, experiment_ensure
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Agent, Connector, Run
from toolevals.runs.runs.services import RunParts, run_converse, run_upload
from toolevals.traces.blindness import closed_to
from toolevals.traces.models import Trace, TraceExample
from toolevals.traces.promotion.models import TraceExampleQuerySet
from toolevals.traces.promotion.turns import turns_of
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.jobs.leases import BatchRefused, Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, Role, User
from toolevals.workspace.old_names import with_new_names
from toolevals.workspace.uploads.services import stored_together, upload_store

KIND: Final = "production_run"
# Examples of one comparison, the newest.
MOST = 1_000
EXPERIMENT = PRODUCTION = "production"
AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class TodayRequest:
    """Whom to ask, and what: the decided examples of a dataset that were made of the traces of a filter."""

    dataset: Dataset
    agent: Agent
    wanted: Mapping[str, str]


def live_agents(project: Project) -> Any:
    """Return the project's agents that can be asked and were asked before, the one that was asked last first."""
    found = Agent.objects.in_project(project).filter(connector__in=list(CONNECTORS)).with_runs()
    return found.filter(last_run__isnull=False).order_by("-last_run")


def decided_examples(project: Project, dataset: Dataset, trace_filter: TraceFilter, role: Role) -> TraceExampleQuerySet:
    """Return the turns of the filter's traces that are examples of the dataset with gold."""
    # Runs are shown to everyone: a trace that is closed to anyone stays out of them.
    traces = trace_filter.traces(project, role).exclude(closed_to(project, Role.REVIEWER)).order_by()
    found = TraceExample.objects.filter(
        is_folded=False, example__dataset=dataset, example__current__gold__isnull=False, trace__in=traces.values("pk")
    )
    return found.order_by("-example_id")


@transaction.atomic
def today_start(*, request: TodayRequest, actor: User, role: Role) -> Job:
    """Begin the job; its result is the page of both runs. Raises InvalidDocument where there is nothing to ask."""
    dataset, agent = request.dataset, request.agent
    if not Run.objects.filter(agent=agent).exists():
        raise InvalidDocument.at("/agent", "was never asked: start a live run of it first")
    if not decided_examples(dataset.project, dataset, TraceFilter.of(request.wanted), role).exists():
        raise InvalidDocument.at(
            "/dataset", "has no example with gold from these traces: create examples and label them"
        )
    payload = {
        "dataset": str(dataset.pk),
        "agent": str(agent.pk),
        "wanted": dict(request.wanted),
        "role": int(role),
    }
    job = job_create(
        project=dataset.project,
        actor=actor,
        kind=KIND,
        title=f"Production and {agent.name} on {dataset.name}",
        batches=[BatchPlan("traces.today", payload)],
    )
    detail = {"dataset": dataset.slug, "agent": agent.name, "filter": dict(request.wanted)}
    audit_record(project=dataset.project, actor=actor, verb="today_start", target=job, detail=detail)
    return job


def today_runs(lease: Lease) -> None:
    """Freeze a version, read what production did, and start both runs with the end of the batch."""
    payload, job = lease.payload, lease.batch.job
    dataset = Dataset.objects.select_related("project").get(pk=payload["dataset"])
    trace_filter = TraceFilter.of(payload["wanted"])
    links = list(decided_examples(dataset.project, dataset, trace_filter, Role(payload["role"]))[:MOST])
    if not links:
        raise BatchRefused("Since this was started, no example with gold is left of these traces for everyone to see.")
    try:
        version = version_freeze(dataset=dataset, actor=job.actor, note="For production and a live agent")
    except InvalidAct as error:
        raise BatchRefused(f"{error} The page of versions takes the reason; then start this again.") from error
    entries = VersionEntry.objects.filter(version=version, revision__example__in=[link.example_id for link in links])
    current = entries.filter(revision=F("revision__example__current")).order_by("position")
    rows = dict(current.values_list("revision__example_id", "position"))
    names = dict(current.values_list("revision__example_id", "revision__example__external_id"))
    lines = [
        orjson.dumps({"id": names[example], "trial": 0, **document})
        for example, document in _done([link for link in links if link.example_id in rows], lease)
    ]
    if not lines:
        raise BatchRefused("The recorded behaviour of these traces is gone.")
    agent = Agent.objects.select_related("tools").get(pk=with_new_names(payload)["agent"])
    project, actor = dataset.project, job.actor
    with lease.finish(), stored_together():
        file = io.BytesIO(b"\n".join(lines) + b"\n")
        upload = upload_store(project=project, actor=actor, file=file, name="production.jsonl")
        parts = RunParts(
            project=project,
            actor=actor,
            experiment=experiment_ensure(project=project, actor=actor, slug=EXPERIMENT, name="Production"),
            agent=agent_ensure(project=project, actor=actor, name=PRODUCTION, connector=Connector.UPLOAD),
            dataset_version=version,
            only=tuple(sorted(rows.values())),
        )
        before = run_upload(parts, upload=upload)
        after = run_converse(parts.of(agent), settings=_settings(agent))
        job.result_path = reverse("reports:beside", args=[project.slug, before.number, after.number])
        Job.objects.filter(pk=job.pk).update(result_path=job.result_path)


def _done(links: Sequence[TraceExample], lease: Lease) -> Iterator[tuple[UUID, JsonObject]]:
    """Yield what production did in the turn of each example, as a line of predictions has it."""
    by_trace = sorted(links, key=attrgetter("trace_id"))
    for number, (pk, group) in enumerate(groupby(by_trace, key=attrgetter("trace_id"))):
        turns = {turn.number: turn for turn in turns_of(trace_read(spans_of(Trace.objects.get(pk=pk))))}
        for link in group:
            if link.turn in turns:
                document = turns[link.turn].done.to_document()
                yield link.example_id, {"format": "native", **document}
        if number % AT_ONCE == 0:
            lease.extend()
            others_write_first()


def _settings(agent: Agent) -> LiveSettings:
    """Return how the agent was asked last."""
    last = Run.objects.filter(agent=agent).order_by("-number").first()
    return LiveSettings.from_document(last.settings if last else {})
