"""Store second looks: an agent's proposals, shown to reviewers once their labels can no longer be changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from labeling.blindness import comparable, is_resolved
from labeling.datasets.models import Dataset
from labeling.examples.models import Revision
from labeling.label.models import Label
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Role, User, within


class LookProposalQuerySet(models.QuerySet["LookProposal"]):
    """Reads of what is proposed."""

    def due(self, project: Project, user: User, now: datetime) -> LookProposalQuerySet:
        """Return the proposals that this person may look at now, the example labelled first coming first.

        Of examples that are not decided, with a label in force of theirs that can no longer be changed, and no second
        look of theirs that is answered. Whether others have labelled them changes nothing.
        """
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
        labels = Label.objects.filter(comparable(user, role), revision=revision, slot__round=revision.round)
        return self.of_weight(revision).filter(label__in=labels).order_by("label")

    def of_weight(self, revision: Revision) -> SecondLookQuerySet:
        """Return the looks of every round after which someone went over to what an agent had proposed."""
        return self.filter(revision=revision, answer="went_over", proposal__is_planted=False).select_related("proposal")

    def measured_in(self, dataset: Dataset) -> SecondLookQuerySet:
        """Return the answered looks of a dataset's examples that have gold now, for figures."""
        rows = self.filter(proposal__plan__dataset=dataset, reviewer__isnull=False, revision__gold__isnull=False)
        return rows.filter(is_resolved()).exclude(answer="").order_by("id")


class LookPlan(models.Model):
    """The agent whose proposals are shown in a dataset, and the share wrong on purpose; the one not ended is active."""

    id = PublicIdField()
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="look_plans")
    # The run whose calls are proposed, and the name of its agent. Runs are another app's.
    run = models.PositiveIntegerField()
    agent = models.CharField(max_length=120)
    # The share of proposals that are wrong on purpose, 0..0.5, and the seed by which they are drawn.
    planted_share = models.FloatField(default=0)
    seed = models.PositiveIntegerField(default=0)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["dataset"], name="one_look_plan", condition=models.Q(ended_at=None)),
        ]


class LookProposal(models.Model):
    """The proposal for one revision: the agent's calls, or others in their place, wrong on purpose."""

    id = PublicIdField()
    plan = models.ForeignKey(LookPlan, on_delete=models.CASCADE, related_name="proposals", db_index=False)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="look_proposals")
    # The document of an expectation of just these calls.
    expectation = DocumentField()
    is_planted = models.BooleanField(default=False)

    objects = LookProposalQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["plan", "revision"], name="one_look_proposal_each"),
        ]


class LookAnswer(models.TextChoices):
    """The answer of a person after a second look."""

    KEPT = "kept", "kept the label"
    WENT_OVER = "went_over", "went over to the proposal"


class SecondLook(models.Model):
    """One person's look at a proposal. Their label stays what it was: this is a remark, and counts in nothing."""

    id = PublicIdField()
    proposal = models.ForeignKey(LookProposal, on_delete=models.CASCADE, related_name="looks", db_index=False)
    # The label that they were asked about.
    label = models.ForeignKey(Label, on_delete=models.CASCADE, related_name="second_looks")
    # The label's, repeated for the queue: who has seen an agent's proposal labels the revision no more.
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="second_looks", db_index=False)
    reviewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    answer = models.CharField(max_length=12, choices=LookAnswer.choices, blank=True, default="")
    remark = models.TextField(blank=True)
    shown_at = MomentField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True)

    objects = SecondLookQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["proposal", "reviewer"], name="one_second_look_each"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["revision", "reviewer"], name="second_look_reviewer"),
            models.Index(fields=["reviewer", "-id"], name="second_look_own"),
        ]
