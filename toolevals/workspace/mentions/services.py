"""Write down who is mentioned, tell them, and note that they have read it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models, transaction
from django.urls import reverse
from uuid_utils.compat import uuid7

from toolevals.workspace.clock import database_now
from toolevals.workspace.mentions.models import Mention
from toolevals.workspace.mentions.queries import places
from toolevals.workspace.models import EventKind, Project, Role, User
from toolevals.workspace.notifications.events import deliveries_add, event_document, people_told


def mentions_note(*, project: Project, actor: User | None, people: Iterable[User], target: models.Model) -> None:
    """Write down who is mentioned in a text, in its transaction; those who may read it and chose so get an e-mail."""
    told = people_told(project, EventKind.MENTIONED)
    for person in people:
        if actor is not None and person.pk == actor.pk:
            continue
        mention = Mention.objects.create(
            project=project,
            person=person,
            actor=actor,
            target_type=target._meta.label_lower,
            target_id=target.pk,
        )
        membership = project.memberships.filter(user=person).first()
        if person not in told or membership is None:
            continue
        place = places([mention], project, person, Role(membership.role)).get(mention.pk)
        if place is not None:
            path = reverse("workspace:mention", args=[project.slug, mention.pk])
            document = event_document(
                project, EventKind.MENTIONED, database_now(), summary=f"You are mentioned in {place.words}", path=path
            )
            deliveries_add(EventKind.MENTIONED, document, {}, {person: uuid7()}, project)


@transaction.atomic
def mention_read(*, mention: Mention) -> None:
    """Note that its person has read it. Again changes nothing."""
    Mention.objects.filter(pk=mention.pk, read_at=None).update(read_at=database_now())
