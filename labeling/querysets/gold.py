"""Read gold and disputes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F

from labeling.blindness import recallable, visible
from toolevals.workspace.models import Role, within

if TYPE_CHECKING:
    from labeling.models import Dispute, Gold, Revision  # noqa: F401
    from toolevals.workspace.models import Project, User


class GoldQuerySet(models.QuerySet["Gold"]):
    """Reads of gold."""

    def in_project(self, project: Project) -> GoldQuerySet:
        """Return the project's gold, what was replaced included."""
        return self.filter(within(project, "revision__example__dataset"))

    def visible_to(self, user: User, role: Role) -> GoldQuerySet:
        """Return the gold that this person may see: not what was in force before an example was reopened."""
        return self.filter(recallable(user, role, author="actor"))

    def in_force(self) -> GoldQuerySet:
        """Return what has not been replaced."""
        return self.filter(pk=F("revision__gold"))

    def history_of(self, revision: Revision) -> GoldQuerySet:
        """Return every gold that the revision ever had, the newest, which is in force, first."""
        return self.filter(revision=revision).select_related("actor", "adjudication__adjudicator").order_by("-id")


class DisputeQuerySet(models.QuerySet["Dispute"]):
    """Reads of disputes."""

    def visible_to(self, user: User, role: Role) -> DisputeQuerySet:
        """Return the disputes that this person may see: an import's waits until people have labelled."""
        return self.filter(visible(user, role, author="actor"))

    def open(self) -> DisputeQuerySet:
        """Return the disputes that no one has settled."""
        return self.filter(settled_at=None)
