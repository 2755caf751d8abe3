"""Read proposals and second looks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from labeling.blindness import comparable, is_resolved
from toolevals.workspace.models import within

if TYPE_CHECKING:
    from labeling.models import Dataset, Label, LookProposal, Revision, SecondLook  # noqa: F401
    from toolevals.workspace.models import Project, Role, User


class LookProposalQuerySet(models.QuerySet["LookProposal"]):
    """Reads of what is proposed."""

    def due(self, project: Project, user: User, now: datetime) -> LookProposalQuerySet:
        """Return the proposals that this person may look at now, the example labelled first coming first.

        Of examples that are not decided, with a label in force of theirs that can no longer be changed, and no second
        look of theirs that is answered. Whether others have labelled them changes nothing.
        """
        from labeling.models import Label, SecondLook

        settled = now - timedelta(seconds=project.undo_seconds)
        own = Label.objects.filter(
            revision=OuterRef("revision"), reviewer=user, slot__round=OuterRef("revision__round")
        )
        standing = own.filter(is_first=True, withdrawn_at=None, slot__state="submitted", created_at__lt=settled)
        answered = SecondLook.objects.filter(revision=OuterRef("revision"), reviewer=user).exclude(answer="")
        rows = self.filter(
            Q(Exists(standing)),
            ~Q(Exists(own.filter(created_at__gte=settled))),
            ~Q(Exists(answered)),
            ~is_resolved(),
            within(project, "plan__dataset"),
            plan__ended_at=None,
            revision__example__current=F("revision"),
        )
        return rows.select_related("plan__dataset__project", "revision__example", "revision__tools").order_by(
            "revision_id"
        )


class SecondLookQuerySet(models.QuerySet["SecondLook"]):
    """Reads of second looks."""

    def answered_by(self, user: User) -> SecondLookQuerySet:
        """Return what this person has answered, the newest first."""
        return self.filter(reviewer=user).exclude(answer="").order_by("-id")

    def remarks_on(self, revision: Revision, user: User, role: Role) -> SecondLookQuerySet:
        """Return the looks of the current round that differ from their labels, for who may compare these.

        Not those at proposals that are wrong on purpose: they say nothing about the example.
        """
        from labeling.models import Label

        labels = Label.objects.filter(comparable(user, role), revision=revision, slot__round=revision.round)
        return self.of_weight(revision).filter(label__in=labels).order_by("label")

    def of_weight(self, revision: Revision) -> SecondLookQuerySet:
        """Return the looks of every round after which someone went over to what an agent had proposed."""
        return self.filter(revision=revision, answer="went_over", proposal__is_planted=False).select_related("proposal")

    def measured_in(self, dataset: Dataset) -> SecondLookQuerySet:
        """Return the answered looks of a dataset's examples that have gold now, for figures."""
        rows = self.filter(proposal__plan__dataset=dataset, reviewer__isnull=False, revision__gold__isnull=False)
        return rows.filter(is_resolved()).exclude(answer="").order_by("id")
