"""Read mentions as far as their people may read the texts.

A lower room does not know the texts: the settings list for each kind of row a function, `MENTIONED_IN`, `(project, ids,
user, role) -> {id: Place}`, of those alone that the person may read now. So a mention in what is still blind waits
until it is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from toolevals.workspace.mentions.models import Mention
from toolevals.workspace.models import Project, Role, User

# Of older ones that no one has read nothing is counted.
MOST = 100


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text: in words, its address, and whether every member may read it, and who wrote it."""

    words: str
    url: str
    is_named: bool = True


def places(mentions: Sequence[Mention], project: Project, user: User, role: Role) -> dict[UUID, Place]:
    """Return where the mentions stand that this person may read, by the ids of the mentions."""
    ids: dict[str, set[UUID]] = defaultdict(set)
    for mention in mentions:
        ids[mention.target_type].add(mention.target_id)
    found: dict[UUID, Place] = {}
    for kind, some in ids.items():
        if kind in settings.MENTIONED_IN:
            found |= import_string(settings.MENTIONED_IN[kind])(project, some, user, role)
    return {mention.pk: found[mention.target_id] for mention in mentions if mention.target_id in found}


def unread(project: Project, user: User) -> models.QuerySet[Mention]:
    """Return the mentions that this person has not read, whether they may or not."""
    return Mention.objects.filter(person=user, project=project, read_at=None)


def unread_count(project: Project, user: User, role: Role) -> int:
    """Return how many mentions this person has not read and may read, at most MOST."""
    return len(places(list(unread(project, user).order_by("-pk")[:MOST]), project, user, role))
