"""Send messages that are due, outside of any request, until they are taken or it was tried often enough.

The rows are the queue. A worker takes a message by moving its time on, and writes how it went only where the message is
still its own. So one whose worker is killed is sent again by another, with the same id: it comes at least once.
Webhooks are signed as https://www.standardwebhooks.com says, and called by the policy of all outgoing calls.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any, Final

import httpx2
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils.module_loading import import_string

from toolevals.agents.chats import retry_after
from toolevals.agents.network import AddressPolicy, AnswerRefusedError, ForbiddenAddressError, guarded_async_client
from toolevals.agents.signing import signed_headers
from toolevals.grading.values.canonical import exact
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.turns import can_ring, ring_task
from toolevals.workspace.models import Delivery, DeliveryState, EventKind, Queue, Webhook, WebhookForm
from toolevals.workspace.notifications.events import event_document, slack_text
from toolevals.workspace.notifications.mails import mail_of, mail_send
from toolevals.workspace.secrets.services import SealBrokenError, unseal

logger = logging.getLogger(__name__)

# Seconds between the attempts, as the standard proposes; one more attempt than there are.
WAITS: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
# Added at random, so that not all come again at once.
JITTER: Final = 0.1
# For all of one attempt, names and redirects included; after the lease another worker may take the message.
SECONDS: Final = 15.0
LEASE: Final = timedelta(seconds=90)
AT_ONCE: Final = 20
# What is read of an answer that is no success, and what of it is kept.
READ_BYTES: Final = 4_096
SHOWN: Final = 200
KEPT: Final = timedelta(days=90)
FORGOTTEN_AT_ONCE: Final = 1_000
GONE: Final = 410


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one attempt: sent, or why not. `again`: whether another may do better; `after` seconds, where told."""

    error: str = ""
    status: int | None = None
    again: bool = True
    after: float | None = None
    is_dropped: bool = False


def deliveries_due(now: datetime) -> None:
    """Ring where a message is to be sent."""
    if can_ring() and Delivery.objects.due(now).exists():
        ring_task("workspace.notify", Queue.IO)


def deliveries_forget(now: datetime) -> int:
    """Delete messages that ended long ago; return how many."""
    old = Delivery.objects.filter(ended_at__lt=now - KEPT).order_by("ended_at").values_list("pk", flat=True)
    return Delivery.objects.filter(pk__in=list(old[:FORGOTTEN_AT_ONCE])).delete()[0]


def deliveries_send(*, seconds: float = 20.0) -> int:
    """Send what is due, so long at most; return how many attempts were made."""
    until, done = time.monotonic() + seconds, 0
    while time.monotonic() < until and (taken := _taken()):
        posts = [each for each in taken if each.webhook is not None]
        for delivery, outcome in zip(posts, asyncio.run(_posted(posts)) if posts else (), strict=True):
            _note(delivery, outcome)
        for delivery in taken:
            if delivery.webhook is None:
                _note(delivery, _mailed(delivery))
        done += len(taken)
    return done


def _taken() -> list[Delivery]:
    """Take some messages, so that no other worker sends them for a while; end those that workers left too often."""
    now, lease = database_now(), uuid.uuid4()
    due = list(Delivery.objects.due(now).order_by("due_at").values_list("pk", flat=True)[:AT_ONCE])
    # What another has taken meanwhile is not due any more.
    Delivery.objects.due(now).filter(pk__in=due).update(lease=lease, due_at=now + LEASE, attempts=F("attempts") + 1)
    found = []
    for each in Delivery.objects.filter(lease=lease).select_related("project", "webhook__project", "user"):
        if each.attempts > len(WAITS) + 1:
            _note(each, Outcome("The workers that sent it ended.", again=False))
        elif _is_prepared(each):
            found.append(each)
    return found


def _is_prepared(delivery: Delivery) -> bool:
    """Write a webhook's message that tells of now, so that each attempt sends the same; return whether to send it."""
    hook = delivery.webhook
    if hook is None:
        return True
    if hook.project.is_deleted or not hook.is_on:
        _note(delivery, Outcome("The project was deleted, or the webhook is off.", again=False, is_dropped=True))
        return False
    if not delivery.document and delivery.kind == EventKind.DIGEST_WEEKLY:
        summary, path = import_string(settings.DIGEST_NOTE)(hook.project)
        delivery.document = event_document(hook.project, delivery.kind, database_now(), summary=summary, path=path)
        Delivery.objects.filter(pk=delivery.pk).update(document=delivery.document)
    return True


async def _posted(deliveries: Sequence[Delivery]) -> list[Outcome]:
    """Return how each message went, all sent at once, so that a slow server holds up no other."""
    policy = AddressPolicy.of(settings.AGENT_NETWORKS)
    return list(await asyncio.gather(*(_post(each, policy) for each in deliveries)))


async def _post(delivery: Delivery, policy: AddressPolicy) -> Outcome:
    try:
        # Not of the database: nothing here waits for it.
        return await asyncio.wait_for(_asked(delivery, policy), SECONDS)
    except (ForbiddenAddressError, SealBrokenError) as error:
        return Outcome(str(error), again=False)
    except TimeoutError:
        return Outcome(f"No answer came within {SECONDS:.0f} seconds.")
    except (AnswerRefusedError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return Outcome(f"{type(error).__name__}: {error}")
    except Exception as error:
        logger.exception("The message %s cannot be posted.", delivery.pk)
        return Outcome(f"{type(error).__name__}: {error}")


async def _asked(delivery: Delivery, policy: AddressPolicy) -> Outcome:
    hook = delivery.webhook
    assert hook is not None
    content = body_of(hook, delivery).encode()
    identifier = f"msg_{delivery.event.hex}"
    headers = {"content-type": "application/json", "user-agent": "toolevals", "webhook-id": identifier}
    headers |= signed_headers(unseal(hook.sealed_secret), identifier, content, time.time())
    async with (
        guarded_async_client(policy, seconds=SECONDS, note=lambda _: None) as client,
        client.stream("POST", unseal(hook.sealed_url), content=content, headers=headers) as response,
    ):
        status = response.status_code
        if response.is_success:
            return Outcome(status=status)
        if response.is_redirect:
            return Outcome(f"{status}: redirects are not followed. Enter the new address.", status)
        said = (await _beginning(response)).decode(errors="replace")
        return Outcome(f"{status}: {said[:SHOWN]}".strip(), status, status != GONE, retry_after(response.headers))


def body_of(hook: Webhook, delivery: Delivery) -> str:
    """Return what is posted: the event, or its text as Slack takes it."""
    return exact({"text": slack_text(delivery.document)} if hook.form == WebhookForm.SLACK else delivery.document)


async def _beginning(response: httpx2.Response) -> bytes:
    found = b""
    async for part in response.aiter_bytes():
        found += part
        if len(found) >= READ_BYTES:
            break
    return found[:READ_BYTES]


def _mailed(delivery: Delivery) -> Outcome:
    try:
        mail = mail_of(delivery)
        if mail is None:
            return Outcome("There was nothing to tell this person any more.", again=False, is_dropped=True)
        mail_send(mail)
    except (SMTPException, OSError) as error:
        return Outcome(f"{type(error).__name__}: {error}")
    except Exception as error:
        logger.exception("The message %s cannot be written.", delivery.pk)
        return Outcome(f"{type(error).__name__}: {error}")
    return Outcome()


@transaction.atomic
def _note(delivery: Delivery, outcome: Outcome) -> None:
    """Write down how an attempt went, unless another worker has the message by now."""
    now = database_now()
    again = bool(outcome.error) and outcome.again and delivery.attempts <= len(WAITS)
    changes: dict[str, Any] = {"status": outcome.status, "error": _plain(outcome.error), "lease": None}
    if again:
        wait = max(WAITS[delivery.attempts - 1], min(outcome.after or 0.0, WAITS[-1]))
        changes["due_at"] = now + timedelta(seconds=wait * (1 + JITTER * random.random()))  # noqa: S311
    else:
        ended = DeliveryState.DROPPED if outcome.is_dropped else DeliveryState.FAILED
        changes |= {"state": ended if outcome.error else DeliveryState.SENT, "ended_at": now}
    if not Delivery.objects.filter(pk=delivery.pk, lease=delivery.lease).update(**changes):
        return
    if outcome.status == GONE:
        # The standard's word for: send no more.
        Webhook.objects.filter(pk=delivery.webhook_id).update(is_on=False)


def _plain(error: str) -> str:
    return "".join(mark if mark.isprintable() else " " for mark in error)[:500]
