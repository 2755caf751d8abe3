"""Write messages about an event in its own transaction: what happens and what is told of it are one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from uuid_utils.compat import uuid7

from toolevals.json_types import JsonMapping, JsonObject, JsonValue
from toolevals.workspace.accounts.models import User
from toolevals.workspace.clock import database_now
from toolevals.workspace.notifications.models import Delivery, EventKind, MailChoice, Webhook
from toolevals.workspace.projects.models import Project

LONGEST_SUMMARY: Final = 1_000


def mail_is_set_up() -> bool:
    """Return whether the operator has named a mail server."""
    return bool(settings.EMAIL_URL)


def page_url(path: str) -> str:
    """Return the whole address of a page, or its path alone where the operator has not said where this is."""
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def event_note(
    *, project: Project, kind: EventKind, summary: str, path: str, facts: Mapping[str, JsonValue] | None = None
) -> None:
    """Tell all who asked for events of this kind, in the transaction of the event.

    `summary` is a sentence and `path` the page where it is seen. Neither they nor the `facts` hold contents of
    examples, labels or gold: webhooks and mails tell links and counts alone.
    """
    now = database_now()
    webhooks = webhooks_told(project, kind)
    people = people_told(project, kind)
    if not webhooks and not people:
        return
    document = event_document(project, kind, now, summary=summary, path=path, facts=facts)
    event = uuid7()
    deliveries_add(kind, document, dict.fromkeys(webhooks, event), dict.fromkeys(people, event), project)


def webhooks_told(project: Project, kind: EventKind) -> list[Webhook]:
    """Return the webhooks of a project that are on and told of an event."""
    return [hook for hook in Webhook.objects.filter(project=project, is_on=True) if kind in hook.kinds]


def people_told(project: Project, kind: EventKind) -> list[User]:
    """Return the members who chose an event of a project by e-mail; no one where there is no e-mail."""
    if not mail_is_set_up():
        return []
    choices = MailChoice.objects.filter(membership__project=project).select_related("membership__user")
    return [choice.membership.user for choice in choices if kind in choice.kinds]


def deliveries_add(
    kind: EventKind,
    document: JsonObject,
    webhooks: Mapping[Webhook, UUID],
    people: Mapping[User, UUID],
    project: Project | None,
) -> None:
    """Add a message for each, by the id of the event; one that was told of that event is not told again."""
    now = database_now()
    rows = [
        Delivery(project=hook.project, webhook=hook, event=event, kind=kind, document=document, due_at=now)
        for hook, event in webhooks.items()
    ] + [
        Delivery(project=project, user=user, event=event, kind=kind, document=document, due_at=now)
        for user, event in people.items()
    ]
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def event_document(
    project: Project,
    kind: str,
    now: datetime,
    *,
    summary: str,
    path: str,
    facts: Mapping[str, JsonValue] | None = None,
) -> JsonObject:
    """Return an event as webhooks send it: its type, its moment, and what it tells."""
    data: JsonObject = {
        "project": project.slug,
        "project_name": project.name,
        "summary": summary[:LONGEST_SUMMARY],
        "url": page_url(path),
        **(facts or {}),
    }
    return {"type": str(kind), "timestamp": now.isoformat(), "data": data}


def slack_text(document: JsonMapping) -> str:
    """Return an event's sentence with a link to its page, as Slack, and what reads the same, takes it.

    Anyone may have written the names: `&`, `<` and `>` are the marks of links and mentions, and escaped as Slack says.
    """
    data = document["data"]
    assert isinstance(data, dict)
    words = f"{escaped(str(data['project_name']))}: {escaped(str(data['summary']))}"
    url = str(data["url"])
    return f"{words} <{escaped(url)}|Open>" if "://" in url else words


def escaped(text: str) -> str:
    """Return a text in which nothing is a link or a mention."""
    plain = "".join(mark if mark.isprintable() else " " for mark in text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def count_words(count: int, one: str, many: Iterable[str] | str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
