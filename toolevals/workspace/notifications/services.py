"""Set up, change and try webhooks, and choose the e-mails of a member."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from uuid_utils.compat import uuid7

from toolevals.agents.network import AddressPolicy, ForbiddenAddressError
from toolevals.agents.secret_binding import Origin, OriginError
from toolevals.agents.signing import ENCODED
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import (
    MAIL_KINDS,
    WEBHOOK_KINDS,
    Delivery,
    EventKind,
    MailChoice,
    Membership,
    Project,
    User,
    Webhook,
    WebhookForm,
)
from toolevals.workspace.notifications.events import deliveries_add, event_document, mail_is_set_up
from toolevals.workspace.notifications.models import DeliveryQuerySet
from toolevals.workspace.secrets.services import seal

# As many as anyone needs: each event is posted to each of them.
MOST_WEBHOOKS: Final = 20
LONGEST_URL: Final = 2_000
# Random bytes of a secret: the standard asks for 24 to 64.
SECRET_BYTES: Final = 32
# What is tried by hand at once waits; more would be a way to flood a server.
MOST_TESTS: Final = 5


@transaction.atomic
def webhook_save(
    *,
    project: Project,
    actor: User | None,
    name: str,
    kinds: Sequence[str],
    url: str = "",
    form: str = WebhookForm.JSON,
    webhook: Webhook | None = None,
) -> tuple[Webhook, str]:
    """Add a webhook, or change one, whose address stays where none is given; return it and the secret of a new one.

    The secret is shown this once. Raises ValidationError by field.
    """
    # One at a time, so that two do not take one name.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    others = Webhook.objects.filter(project=project)
    if webhook is not None:
        others = others.exclude(pk=webhook.pk)
    name = name.strip()
    saved = webhook or Webhook(project=project)
    if not name or len(name) > 80 or not name.isprintable():
        raise ValidationError({"name": "Must have 1 to 80 characters on one line."})
    if others.filter(name=name).exists():
        raise ValidationError({"name": "Another webhook has this name."})
    if webhook is None and others.count() >= MOST_WEBHOOKS:
        raise ValidationError({"name": f"A project has at most {MOST_WEBHOOKS} webhooks. Delete one first."})
    if form not in WebhookForm.values:
        raise ValidationError({"form": f"Must be one of {', '.join(WebhookForm.values)}."})
    if url or webhook is None:
        saved.sealed_url, saved.origin = seal(url), _origin(url)
    secret = "" if webhook else _new_secret()
    if secret:
        saved.sealed_secret = seal(secret)
    saved.name, saved.form, saved.kinds, saved.actor = name, form, _kinds(kinds, WEBHOOK_KINDS), actor
    saved.save()
    verb = "webhook_change" if webhook else "webhook_add"
    detail = {"name": name, "origin": saved.origin, "form": form, "events": saved.kinds}
    audit_record(project=project, actor=actor, verb=verb, target=saved, detail=detail)
    return saved, secret


@transaction.atomic
def webhook_switch(*, webhook: Webhook, actor: User | None, is_on: bool) -> None:
    """Switch a webhook on or off. Of what happens while it is off, it is not told."""
    webhook.is_on = is_on
    webhook.save(update_fields=["is_on"])
    detail = {"name": webhook.name, "is_on": is_on}
    audit_record(project=webhook.project, actor=actor, verb="webhook_switch", target=webhook, detail=detail)


@transaction.atomic
def webhook_renew(*, webhook: Webhook, actor: User | None) -> str:
    """Give a webhook another secret and return it. What is sent from now on is signed with it alone."""
    secret = _new_secret()
    webhook.sealed_secret = seal(secret)
    webhook.save(update_fields=["sealed_secret"])
    detail = {"name": webhook.name}
    audit_record(project=webhook.project, actor=actor, verb="webhook_renew", target=webhook, detail=detail)
    return secret


@transaction.atomic
def webhook_delete(*, webhook: Webhook, actor: User | None) -> None:
    """Delete a webhook with its log."""
    detail = {"name": webhook.name}
    audit_record(project=webhook.project, actor=actor, verb="webhook_delete", target=webhook, detail=detail)
    webhook.delete()


@transaction.atomic
def webhook_test(*, webhook: Webhook, actor: User | None) -> None:
    """Have a test sent to a webhook. Raises ValidationError while it is off, or many tests wait."""
    if not webhook.is_on:
        raise ValidationError("The webhook is off. Switch it on first.")
    _require_few(Delivery.objects.filter(webhook=webhook, kind=EventKind.TEST))
    project, path = webhook.project, f"{settings.PATH_PREFIX}/p/{webhook.project.slug}/notifications/"
    summary = f"A test of the webhook {webhook.name}"
    document = event_document(project, EventKind.TEST, database_now(), summary=summary, path=path)
    deliveries_add(EventKind.TEST, document, {webhook: uuid7()}, {}, project)
    audit_record(project=project, actor=actor, verb="webhook_test", target=webhook, detail={"name": webhook.name})


@transaction.atomic
def mails_choose(*, membership: Membership, actor: User | None, kinds: Sequence[str]) -> None:
    """Choose of which events a member gets e-mail. Raises ValidationError."""
    chosen = _kinds(kinds, MAIL_KINDS, may_be_empty=True)
    before = MailChoice.objects.filter(membership=membership).first()
    if chosen == (before.kinds if before else []):
        return
    MailChoice.objects.update_or_create(membership=membership, defaults={"kinds": chosen})
    detail = {"events": chosen}
    audit_record(project=membership.project, actor=actor, verb="mails_choose", target=membership, detail=detail)


@transaction.atomic
def mail_test(*, user: User) -> None:
    """Have a test sent to a person by e-mail. Raises ValidationError without e-mail, and while many tests wait."""
    if not mail_is_set_up():
        raise ValidationError("E-mail is not set up.")
    _require_few(Delivery.objects.filter(user=user, kind=EventKind.TEST))
    deliveries_add(EventKind.TEST, {}, {}, {user: uuid7()}, None)


def _require_few(tests: DeliveryQuerySet) -> None:
    if tests.filter(state="waiting").count() >= MOST_TESTS:
        raise ValidationError(f"{MOST_TESTS} tests wait already.")


def _new_secret() -> str:
    return ENCODED + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def _origin(url: str) -> str:
    if len(url) > LONGEST_URL:
        raise ValidationError({"url": f"Must have at most {LONGEST_URL:,} characters."})
    try:
        origin = Origin.of(url)
    except OriginError as error:
        raise ValidationError({"url": f"The address {error}."}) from None
    try:
        # Names are looked up when a message is sent: a request waits for no one.
        AddressPolicy.of(settings.AGENT_NETWORKS).require_plain(urlsplit(url).hostname or "")
    except ForbiddenAddressError as error:
        raise ValidationError({"url": str(error)}) from None
    return str(origin)


def _kinds(kinds: Sequence[str], known: Collection[str], *, may_be_empty: bool = False) -> list[str]:
    if unknown := [kind for kind in kinds if kind not in known]:
        raise ValidationError({"kinds": f"{unknown[0][:40]!r} is not an event. Events are {', '.join(sorted(known))}."})
    if not kinds and not may_be_empty:
        raise ValidationError({"kinds": "Choose at least one event."})
    return [str(kind) for kind in known if kind in kinds]
