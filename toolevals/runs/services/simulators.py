"""Simulators: kept by content, chosen for a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from labeling.models import Dataset
from toolevals.grading.canonical import digest
from toolevals.grading.problems import InvalidDocument
from toolevals.runs.models import DatasetSimulator, Simulator
from toolevals.runs.simulating import answered_tools, content_read
from toolevals.workspace.models import Project, User
from toolevals.workspace.services import audit_record

NAME_LENGTH = 120


def simulator_ensure(
    *, project: Project, actor: User | None, name: str, kind: str, content: Mapping[str, Any]
) -> Simulator:
    """Return the project's simulator that is exactly this, made at the first call. Safe in a race.

    Code is run once, to learn which tools it answers: in the sandbox, unless it is trusted. An MCP
    server is asked. Raises InvalidDocument.
    """
    title = name.strip()
    if not 1 <= len(title) <= NAME_LENGTH:
        raise InvalidDocument.at("/name", f"must have 1 to {NAME_LENGTH} characters")
    kept = content_read(kind, content)
    secret = kept.get("secret")
    if secret and not project.secrets.filter(name=secret).exists():
        raise InvalidDocument.at(
            "/content/secret", f"The project has no secret named {secret!r}: an owner sets it first."
        )
    key = digest({"kind": kind, "content": kept})
    there = Simulator.objects.filter(project=project, name=title, digest=key).first()
    if there is not None:
        return there
    tools = answered_tools(project, kind, kept)
    with transaction.atomic():
        # One at a time: the numbers have no gap and no double.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        last = Simulator.objects.filter(project=project, name=title).aggregate(last=Max("number"))["last"] or 0
        made, is_new = Simulator.objects.get_or_create(
            project=project,
            name=title,
            digest=key,
            defaults={"number": last + 1, "kind": kind, "content": kept, "tools": tools, "actor": actor},
        )
        if is_new:
            detail = {"name": title, "number": made.number, "kind": kind, "digest": key}
            audit_record(project=project, actor=actor, verb="simulator_ensure", target=made, detail=detail)
    return made


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
