"""Keep simulators by content, and choose one for a dataset."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Max
from django.urls import reverse

from labeling.models import Dataset
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.runs.agents.services import require_secret
from toolevals.runs.models import DatasetSimulator, Simulator, SimulatorKind
from toolevals.runs.simulators.contents import answered_tools, content_keyed, content_read, may_be_asked
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.leases import BatchRefused, Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, Upload, User
from toolevals.workspace.uploads.services import file_store

NAME_LENGTH = 120
KIND = "simulator"
# Those that say themselves which tools they answer; the others are run, or asked, to find out.
KNOWN_BY_CONTENT = (SimulatorKind.SCRIPTED, SimulatorKind.HTTP)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A simulator to keep, read and found in order."""

    project: Project
    name: str
    kind: str
    content: JsonMapping

    @property
    def digest(self) -> str:
        """Return what the content is known by."""
        return digest({"kind": self.kind, "content": self.content})

    def kept(self) -> Simulator | None:
        """Return the simulator that is exactly this, where the project has it."""
        return Simulator.objects.filter(project=self.project, name=self.name, digest=self.digest).first()


def simulator_begin(
    *, project: Project, actor: User | None, name: str, kind: str, content: JsonMapping
) -> Simulator | Job:
    """Return the project's simulator that is exactly this, or the job that will keep it.

    A job runs code once, in the sandbox unless it is trusted, and asks an MCP server, to learn which tools they answer.
    Raises InvalidDocument.
    """
    wanted = _read(project, actor, name, kind, content)
    if kind in KNOWN_BY_CONTENT:
        return _keep(wanted, actor)
    return wanted.kept() or _job(wanted, actor)


def simulator_ensure(*, project: Project, actor: User | None, name: str, kind: str, content: JsonMapping) -> Simulator:
    """Return what `simulator_begin` would, and wait for it: not for a request. Raises InvalidDocument."""
    return _keep(_read(project, actor, name, kind, content), actor)


def simulator_add(lease: Lease) -> None:
    """Keep a simulator whose tools have to be asked for: what the job's batch does."""
    said, job = lease.payload, lease.batch.job
    upload = Upload.objects.filter(pk=said["upload"]).first()
    if upload is None:
        raise BatchRefused("The files of the simulator have expired: add it again.")
    with upload.file.open("rb") as file:
        content = json.load(file)
    choice = Wanted(job.project, said["name"], said["kind"], content)
    tools = answered_tools(choice.project, choice.kind, choice.content)
    with lease.finish():
        made = _insert(choice, tools, job.actor)
        address = reverse("runs:simulator", args=[job.project.slug, made.pk])
        Job.objects.filter(pk=job.pk).update(result_path=address)
        lease.report({"simulator": str(made.pk), "name": made.name, "version": made.number})


@transaction.atomic
def simulator_choose(*, dataset: Dataset, actor: User | None, simulator: Simulator | None) -> None:
    """Put a simulator behind the tools of a dataset's examples, for runs from now on; None takes it away.

    Raises InvalidDocument where it is another project's.
    """
    if simulator is not None and simulator.project_id != dataset.project_id:
        raise InvalidDocument.at("/simulator", "is not of this project")
    if simulator is None:
        DatasetSimulator.objects.filter(dataset=dataset).delete()
    else:
        DatasetSimulator.objects.update_or_create(dataset=dataset, defaults={"simulator": simulator, "actor": actor})
    detail = {"dataset": dataset.slug, "simulator": str(simulator) if simulator else None}
    audit_record(project=dataset.project, actor=actor, verb="simulator_choose", target=dataset, detail=detail)


def _read(project: Project, actor: User | None, name: str, kind: str, content: JsonMapping) -> Wanted:
    title = name.strip()
    if not 1 <= len(title) <= NAME_LENGTH:
        raise InvalidDocument.at("/name", f"must have 1 to {NAME_LENGTH} characters")
    kept = content_read(kind, content)
    require_secret(project, actor, content_keyed(kind, kept), "/content/secret")
    may_be_asked(project, kind, kept)
    return Wanted(project, title, kind, kept)


def _keep(wanted: Wanted, actor: User | None) -> Simulator:
    there = wanted.kept()
    return there or _insert(wanted, answered_tools(wanted.project, wanted.kind, wanted.content), actor)


def _job(wanted: Wanted, actor: User | None) -> Job:
    text = ContentFile(json.dumps(wanted.content).encode())
    upload = file_store(project=wanted.project, actor=actor, content=text, name=f"{wanted.name}.json")
    with transaction.atomic():
        job = job_create(
            project=wanted.project,
            actor=actor,
            kind=KIND,
            title=f"Add the simulator {wanted.name}",
            batches=[
                BatchPlan("runs.simulator_add", {"upload": str(upload.pk), "name": wanted.name, "kind": wanted.kind})
            ],
            result_path=reverse("runs:simulators", args=[wanted.project.slug]),
        )
        detail = {"job": str(job.pk), "name": wanted.name, "kind": wanted.kind}
        audit_record(project=wanted.project, actor=actor, verb="simulator_begin", target=job, detail=detail)
    return job


@transaction.atomic
def _insert(wanted: Wanted, tools: list[str] | None, actor: User | None) -> Simulator:
    """Make the simulator, or return it where someone else was quicker."""
    project, key = wanted.project, wanted.digest
    # One at a time: the numbers have no gap and no double.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    last = Simulator.objects.filter(project=project, name=wanted.name).aggregate(last=Max("number"))["last"] or 0
    made, is_new = Simulator.objects.get_or_create(
        project=project,
        name=wanted.name,
        digest=key,
        defaults={
            "number": last + 1,
            "kind": wanted.kind,
            "content": dict(wanted.content),
            "tools": tools,
            "actor": actor,
        },
    )
    if is_new:
        detail = {"name": wanted.name, "number": made.number, "kind": wanted.kind, "digest": key}
        audit_record(project=project, actor=actor, verb="simulator_ensure", target=made, detail=detail)
    return made
