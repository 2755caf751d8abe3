"""Write down who is mentioned, tell them, and note that they have read it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models, transaction
from django.urls import reverse

from toolevals.workspace.clock import database_now
from toolevals.workspace.mentions.models import Mention
from toolevals.workspace.mentions.queries import places
from toolevals.workspace.models import EventKind, Project, Role, User
from toolevals.workspace.notifications.events import deliveries_add, event_document, people_told, webhooks_told


def mentions_note(*, project: Project, actor: User | None, people: Iterable[User], target: models.Model) -> None:
    """Write down who is mentioned in a text, in its transaction, and tell of those who may read it.

    They get an e-mail if they chose so. Webhooks are told who is mentioned; where, only if every member may read that.
    """
    told, hooks = people_told(project, EventKind.MENTIONED), webhooks_told(project, EventKind.MENTIONED)
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
        if membership is None or not (hooks or person in told):
            continue
        place = places([mention], project, person, Role(membership.role)).get(mention.pk)
        if place is None:
            continue
        now = database_now()
        if person in told:
            path = reverse("workspace:mention", args=[project.slug, mention.pk])
            summary = f"You are mentioned in {place.words}"
            document = event_document(project, EventKind.MENTIONED, now, summary=summary, path=path)
            deliveries_add(EventKind.MENTIONED, document, {}, {person: mention.pk}, project)
        if hooks:
            path = place.url if place.is_named else reverse("workspace:mentions", args=[project.slug])
            summary = f"{person.name} is mentioned{f' in {place.words}' if place.is_named else ''}"
            document = event_document(project, EventKind.MENTIONED, now, summary=summary, path=path)
            deliveries_add(EventKind.MENTIONED, document, dict.fromkeys(hooks, mention.pk), {}, project)


@transaction.atomic
def mention_read(*, mention: Mention) -> None:
    """Note that its person has read it. Again changes nothing."""
    Mention.objects.filter(pk=mention.pk, read_at=None).update(read_at=database_now())
