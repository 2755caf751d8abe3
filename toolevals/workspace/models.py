"""Stores people, projects, who may do what, what was done, and the background work."""

from toolevals.workspace.accounts.models import SignInAddress, SignInFailure, User
from toolevals.workspace.audit.models import AuditEntry, AuditOpening
from toolevals.workspace.idempotency.models import IdempotencyKey
from toolevals.workspace.installation.models import InstallationSetting
from toolevals.workspace.jobs.models import (
    DESTROY,
    FIRST_NUMBER,
    SLOW_QUEUES,
    Batch,
    BatchState,
    Job,
    JobState,
    Queue,
    SweepTask,
    Worker,
)
from toolevals.workspace.mentions.models import Mention
from toolevals.workspace.notifications.models import (
    MAIL_KINDS,
    WEBHOOK_KINDS,
    Delivery,
    DeliveryState,
    EventKind,
    MailChoice,
    Told,
    Webhook,
    WebhookForm,
)
from toolevals.workspace.people.models import Invitation, InvitationState
from toolevals.workspace.projects.models import ApiToken, Membership, Project, Role, TokenScope, Visit
from toolevals.workspace.secrets.models import Secret
from toolevals.workspace.trash.models import Trashable, Untrashed, untrashed, within
from toolevals.workspace.uploads.models import Upload

__all__ = [
    "DESTROY",
    "FIRST_NUMBER",
    "MAIL_KINDS",
    "SLOW_QUEUES",
    "WEBHOOK_KINDS",
    "ApiToken",
    "AuditEntry",
    "AuditOpening",
    "Batch",
    "BatchState",
    "Delivery",
    "DeliveryState",
    "EventKind",
    "IdempotencyKey",
    "InstallationSetting",
    "Invitation",
    "InvitationState",
    "Job",
    "JobState",
    "MailChoice",
    "Membership",
    "Mention",
    "Project",
    "Queue",
    "Role",
    "Secret",
    "SignInAddress",
    "SignInFailure",
    "SweepTask",
    "TokenScope",
    "Told",
    "Trashable",
    "Untrashed",
    "Upload",
    "User",
    "Visit",
    "Webhook",
    "WebhookForm",
    "Worker",
    "untrashed",
    "within",
]
