"""Tell where a mentioned person reads a note on a case."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from toolevals.runs.models import CaseGrade, CaseNote
from toolevals.workspace.mentions.queries import Place
from toolevals.workspace.models import Project, Role, User, within


def places(project: Project, ids: Collection[UUID], user: User, role: Role) -> dict[UUID, Place]:
    """Return the places of the notes, each at its case in the newest grading: every member reads them."""
    rows = CaseNote.objects.filter(within(project, "transcript__run"), pk__in=ids).values_list(
        "pk", "transcript", "transcript__run__number"
    )
    notes = list(rows)
    cases = CaseGrade.objects.filter(transcript__in={transcript for _, transcript, _ in notes})
    newest = dict(cases.order_by("pk").values_list("transcript", "pk"))
    return {
        pk: Place(
            f"a note on a case of run {number}",
            reverse("reports:case", args=[project.slug, number, newest[transcript]]) + "#remarks",
        )
        for pk, transcript, number in notes
        if transcript in newest
    }
