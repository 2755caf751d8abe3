"""Stores invitations to a project: links with which people come in by themselves."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from toolevals.workspace.accounts.models import User
from toolevals.workspace.clock import database_now
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.projects.models import Project, Role
from toolevals.workspace.trash.models import untrashed


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Reads of invitations."""

    def unanswered(self) -> InvitationQuerySet:
        """Return those that are pending, expired ones with them: an owner makes a new link or revokes them."""
        return self.filter(state="pending")

    def in_force(self) -> InvitationQuerySet:
        """Return those that can be accepted now."""
        return self.unanswered().filter(untrashed("project"), expires_at__gt=database_now())

    def for_person(self, user: User) -> InvitationQuerySet:
        """Return those that wait for this person's answer, the oldest first."""
        return self.in_force().filter(email=user.email).select_related("project", "actor").order_by("pk")


class InvitationState(models.TextChoices):
    """The state of an invitation. Pending and overdue is expired."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    REVOKED = "revoked"


class Invitation(models.Model):
    """A role in a project, offered to the person who has an address. Only the hash of its link is kept."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    # In lower case. Whether an account has it is looked up when the invitation is answered, and not before.
    email = models.EmailField()
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    # SHA-256 of the link's secret, in hexadecimal. The secret has 256 random bits: no salt is needed.
    digest = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=InvitationState.choices, default=InvitationState.PENDING)
    # Who invites.
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    expires_at = models.DateTimeField()
    # When it was accepted, declined or revoked.
    ended_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "email"], condition=Q(state="pending"), name="one_pending_invitation_each"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["email"], condition=Q(state="pending"), name="invitation_pending"),
        ]

    @property
    def is_expired(self) -> bool:
        """Tell whether its time is over without an answer."""
        return self.state == InvitationState.PENDING and self.expires_at <= database_now()
