"""Store second looks: an agent's proposals, shown to reviewers once their labels can no longer be changed."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from labeling.models.datasets import Dataset
from labeling.models.examples import Revision
from labeling.models.labels import Label
from labeling.querysets.second_looks import LookProposalQuerySet, SecondLookQuerySet
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import User


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
