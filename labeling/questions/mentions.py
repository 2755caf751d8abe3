"""Tell where a mentioned person reads a comment: only those that `labeling.blindness` lets them read."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from labeling.blindness import RESOLVED
from labeling.models import Comment
from toolevals.workspace.mentions.queries import Place
from toolevals.workspace.models import Project, Role, User


def places(project: Project, ids: Collection[UUID], user: User, role: Role) -> dict[UUID, Place]:
    """Return the places of the comments that this person may read. Until an example is resolved, no author is named."""
    rows = Comment.objects.in_project(project).filter(pk__in=ids).readable_by(user, role).with_example()
    return {row.pk: _place(project, row) for row in rows}


def _place(project: Project, comment: Comment) -> Place:
    example = comment.revision.example
    words = f"a question about {example.external_id}"
    if comment.revision.resolution in RESOLVED:
        return Place(words, reverse("labeling:example", args=[project.slug, example.dataset.slug, example.pk]))
    return Place(words, reverse("labeling:thread", args=[project.slug, comment.revision_id]), is_named=False)
