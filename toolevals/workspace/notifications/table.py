"""Say the columns of webhooks, and of the logs of what was sent."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from toolevals.presentation.table import Column, Table
from toolevals.workspace.models import DeliveryState, WebhookForm

WEBHOOK: Final = Table(
    "Webhook",
    "An address that events of the project are posted to. What signs is shown once, when it is made.",
    (
        Column("webhook_id", UUID, "pk", "its id", only="file"),
        Column("id", UUID, "pk", "its id", only="answer"),
        Column("name", words="its name"),
        Column("form", tuple(WebhookForm.values), words="`json` is the whole event, `slack` a text that Slack takes"),
        Column("origin", words="the scheme, host and port of its address; the rest may hold a key and is not shown"),
        Column("events", str, "kinds", words="the events that are sent to it", many="list"),
        Column("is_on", bool, words="whether anything is sent"),
        Column("created_at", datetime, words="since when it is there"),
    ),
)

_OF_A_MESSAGE: Final = (
    Column("event", words="the kind of event", value="kind"),
    Column("summary", words="what it tells; empty until it is written"),
    Column("state", tuple(DeliveryState.values), words="`dropped`: there was nothing to tell when it was to be sent"),
    Column("attempts", int, words="how often it was tried"),
    Column("status", int, words="the status of the last answer", optional=True),
    Column("error", words="what went wrong at the last attempt"),
    Column("next_attempt", datetime, words="when it is tried next", optional=True),
    Column("created_at", datetime, words="when it was written"),
    Column("ended_at", datetime, words="when it was sent, or given up", optional=True),
)
DELIVERY: Final = Table(
    "Delivery",
    "One message to one webhook, and how sending it went.",
    (
        Column("delivery_id", UUID, "pk", "its id", only="file"),
        Column("id", UUID, "pk", "its id", only="answer"),
        Column("message_id", UUID, "event", "the event: `webhook-id` is `msg_` and its hexadecimal digits"),
        Column("webhook_id", UUID, "webhook.pk", "the webhook"),
        Column("webhook", words="its name", value="webhook.name"),
        *_OF_A_MESSAGE,
        Column("document", dict, words="what was sent", only="answer"),
    ),
)
MAIL: Final = Table(
    "Mail",
    "One e-mail to you, and how sending it went.",
    (Column("delivery_id", UUID, "pk", "its id", only="file"), *_OF_A_MESSAGE),
)
