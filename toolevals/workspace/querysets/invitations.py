"""Reads invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from toolevals.workspace.clock import database_now

if TYPE_CHECKING:
    from toolevals.workspace.models import Invitation, User  # noqa: F401


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Reads of invitations."""

    def unanswered(self) -> InvitationQuerySet:
        """Return those that are pending, expired ones with them: an owner makes a new link or revokes them."""
        return self.filter(state="pending")

    def in_force(self) -> InvitationQuerySet:
        """Return those that can be accepted now."""
        from toolevals.workspace.models import untrashed

        return self.unanswered().filter(untrashed("project"), expires_at__gt=database_now())

    def for_person(self, user: User) -> InvitationQuerySet:
        """Return those that wait for this person's answer, the oldest first."""
        return self.in_force().filter(email=user.email).select_related("project", "actor").order_by("pk")
