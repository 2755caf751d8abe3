"""Write the messages that come by the clock: the work that waits for a person, and the weekly digest."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import uuid5

from django.utils import timezone

from toolevals.workspace.models import EventKind, MailChoice, User, Webhook
from toolevals.workspace.notifications.events import deliveries_add, mail_is_set_up

# From so many hours on, by the time zone of the pages.
HOUR: Final = 7
MONDAY: Final = 0


def regular_due(now: datetime) -> None:
    """Write the messages of this day, each once, however often it is asked: the day is part of their ids.

    What they say is found out when they are sent.
    """
    local = timezone.localtime(now)
    if local.hour < HOUR:
        return
    kinds = [EventKind.WORK_WAITING]
    if local.weekday() == MONDAY:
        kinds.append(EventKind.DIGEST_WEEKLY)
        hooks = [hook for hook in Webhook.objects.filter(is_on=True) if EventKind.DIGEST_WEEKLY in hook.kinds]
        name = _name(EventKind.DIGEST_WEEKLY, local)
        deliveries_add(EventKind.DIGEST_WEEKLY, {}, {each: uuid5(each.pk, name) for each in hooks}, {}, None)
    for kind in kinds if mail_is_set_up() else ():
        name = _name(kind, local)
        deliveries_add(kind, {}, {}, {each: uuid5(each.pk, name) for each in _people(kind)}, None)


def _name(kind: EventKind, day: datetime) -> str:
    return f"{kind}:{day:%Y-%m-%d}"


def _people(kind: EventKind) -> set[User]:
    choices = MailChoice.objects.select_related("membership__user")
    return {choice.membership.user for choice in choices if kind in choice.kinds}
