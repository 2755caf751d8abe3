"""Store who is told of which events, and each message until it is sent: the rows are the queue."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.projects.models import Membership, Project


class EventKind(models.TextChoices):
    """The events that people and programs are told of."""

    RUN_FINISHED = "run.finished", "a run is finished"
    RUN_FAILED = "run.failed", "a run fails"
    GATE_FAILED = "gate.failed", "a gate fails"
    DATASET_DONE = "dataset.done", "every example of a dataset is decided"
    JUDGE_DRIFTED = "judge.drifted", "a judge drifts"
    TOOLS_CHANGED = "tools.changed", "tool definitions change"
    DIGEST_WEEKLY = "digest.weekly", "the weekly digest, on Mondays"
    MENTIONED = "mention", "a member mentions me"
    WORK_WAITING = "work.waiting", "work waits for me, once a day"
    PASSWORD_RESET = "password.reset", "a person asks for a new password"
    TEST = "test", "a test"


# Of one person alone, and by e-mail.
_OF_ONE_PERSON = (EventKind.WORK_WAITING, EventKind.PASSWORD_RESET, EventKind.TEST)
WEBHOOK_KINDS = tuple(kind for kind in EventKind if kind not in _OF_ONE_PERSON)
MAIL_KINDS = (*WEBHOOK_KINDS, EventKind.WORK_WAITING)


class WebhookForm(models.TextChoices):
    """The body of what a webhook sends."""

    JSON = "json", "JSON"
    SLACK = "slack", "Slack"


class Webhook(models.Model):
    """An address outside that a project's events are posted to."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=80)
    form = models.CharField(max_length=10, choices=WebhookForm.choices, default=WebhookForm.JSON)
    # The address may hold a key itself: kept as secrets are. Shown is its scheme, host and port.
    sealed_url = models.TextField()
    origin = models.CharField(max_length=300)
    # What signs: `whsec_` and base64.
    sealed_secret = models.TextField()
    kinds = DocumentField(default=list)
    is_on = models.BooleanField(default=True)
    # Who wrote it last.
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name"], name="webhook_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def kinds_words(self) -> str:
        """Return the events as they are read in a list."""
        return ", ".join(self.kinds)


class MailChoice(models.Model):
    """The events of a project that one member gets by e-mail. It ends with the membership."""

    membership = models.OneToOneField(
        Membership, on_delete=models.CASCADE, primary_key=True, related_name="mail_choice"
    )
    kinds = DocumentField(default=list)

    def __str__(self) -> str:
        return f"e-mails of {self.membership_id}"


class DeliveryState(models.TextChoices):
    """The stage of a message. Dropped: when it was to be sent, there was nothing that the person may be told."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Reads of messages."""

    def due(self, now: datetime) -> DeliveryQuerySet:
        """Return what a worker may send now; what another holds is due again when that one's time is over."""
        return self.filter(state=DeliveryState.WAITING, due_at__lte=now)

    def of_webhooks(self, project: Project, webhook: str = "") -> DeliveryQuerySet:
        """Return what a project's webhooks send, or the one of this id, with the webhook; nothing of what is no id."""
        found = self.filter(project=project, webhook__isnull=False).select_related("webhook")
        try:
            return found.filter(webhook=UUID(webhook)) if webhook else found
        except ValueError:
            return found.none()


class Delivery(models.Model):
    """One message about one event to one webhook or one person: written together with the event, then sent."""

    id = PublicIdField()
    # None: of all projects of the person.
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    # The same for all that are told of it, and however often it is sent.
    event = models.UUIDField()
    kind = models.CharField(max_length=20, choices=EventKind.choices)
    # What is told, as `toolevals.workspace.notifications.events` writes it; empty until it is sent where that tells.
    document = DocumentField(default=dict)
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When it is sent next; while it is being sent, when another worker may take it.
    due_at = models.DateTimeField()
    lease = models.UUIDField(null=True)
    # Of the last attempt: the status of the answer, and what went wrong.
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = MomentField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["webhook", "event"], name="delivery_once_by_webhook"),
            models.UniqueConstraint(fields=["user", "event"], name="delivery_once_by_mail"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "-id"], name="delivery_project"),
            models.Index(fields=["due_at"], name="delivery_due", condition=models.Q(state="waiting")),
            models.Index(fields=["ended_at"], name="delivery_ended", condition=models.Q(ended_at__isnull=False)),
        ]

    @property
    def next_attempt(self) -> datetime | None:
        """Return when it is sent next; None where it is not."""
        return self.due_at if self.state == DeliveryState.WAITING else None

    @property
    def summary(self) -> str:
        """Return what it tells, in a sentence."""
        return str(self.document.get("data", {}).get("summary", ""))


class Told(models.Model):
    """A state that people were told of: while it lasts, they are not told again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    # The id of what is in that state.
    subject = models.UUIDField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "kind", "subject"], name="told_once"),
        ]
