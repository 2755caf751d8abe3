"""Save a project's gates under a name, rename and delete them."""

from __future__ import annotations

import re
from typing import Any, Final

from django.db import transaction

from reports.models import NamedGate
from reports.services.gates import gate_read, require_baseline
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Project, User

LONGEST_NAME: Final = 60
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}", re.ASCII)


@transaction.atomic
def named_gate_save(
    *, project: Project, actor: User | None, name: str, gate: Any, baseline: str = "", was: str = ""
) -> NamedGate:
    """Keep a gate under a name; `was` is the name that it had before, and a gate of that name is changed.

    Raises InvalidDocument where the gate is none, or another one has the name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidDocument.at("/name", f"takes letters, digits, hyphens and _, {LONGEST_NAME} at most")
    gate_read(gate)
    require_baseline(baseline)
    # One at a time, so that two do not both take a name.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    known = {each.name: each for each in project.named_gates.filter(name__in=(name, was)).order_by("name")}
    saved = known.get(was) or NamedGate(project=project)
    if name in known and name != was:
        raise InvalidDocument.at("/name", f"is the name of another gate: {name}")
    saved.name, saved.gate, saved.baseline, saved.actor = name, gate, baseline, actor
    saved.save()
    detail = {"name": name} | ({"was": was} if was and was != name else {})
    audit_record(project=project, actor=actor, verb="named_gate_save", target=saved, detail=detail)
    return saved


@transaction.atomic
def named_gate_delete(*, gate: NamedGate, actor: User | None) -> None:
    """Delete a kept gate. What runs were checked by under its name stays as it is."""
    audit_record(project=gate.project, actor=actor, verb="named_gate_delete", target=gate, detail={"name": gate.name})
    gate.delete()
