"""Store the expectation in force and its history, and what came of labels. Rows are only added; the newest counts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F

from labeling.blindness import is_resolved, recallable, visible
from labeling.examples.models import Revision
from labeling.label.models import Label, LabelAnswer
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Role, User, within


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


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    """Reads of feedback. It is its reader's own, and rests while the example is open again."""

    def for_reviewer(self, project: Project, user: User) -> FeedbackQuerySet:
        """Return what was decided about this person's labels."""
        return self.filter(
            is_resolved("label__revision"), within(project, "label__revision__example__dataset"), reviewer=user
        )

    def differing(self, *, differs: bool = True) -> FeedbackQuerySet:
        """Return where the decision means something other than the label; or, where not, the rest."""
        return self.filter(differs=differs)

    def unseen(self) -> FeedbackQuerySet:
        """Return the differing decisions that their reader has not marked as read."""
        return self.filter(differs=True, seen_at=None)

    def with_content(self) -> FeedbackQuerySet:
        """Return feedback with what its page shows loaded."""
        return self.select_related("label__revision__example__dataset", "gold", "adjudication")


class GoldSource(models.TextChoices):
    """The source of gold; shown where gold is."""

    AGREED = "agreed"
    # By labels that mean the same, or a single one, of which some were given elsewhere: blind or not, no one knows.
    ELSEWHERE = "elsewhere", "Labels given elsewhere"
    ADJUDICATED = "adjudicated"
    SINGLE = "single"
    IMPORTED = "imported"
    # Adjudicated, where someone had said otherwise after seeing what an agent proposes.
    SECOND_LOOK = "second_look"
    # Earlier gold that was put in force again.
    RESTORED = "restored"


class Adjudication(models.Model):
    """A third person's decision where labels differ, or two people passed an example on."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="adjudications")
    adjudicator = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Other than an expectation: there is no gold, on purpose.
    answer = models.CharField(max_length=12, choices=LabelAnswer.choices, default=LabelAnswer.EXPECTATION)
    expectation = DocumentField(null=True)
    rationale = models.TextField()
    seconds = models.FloatField(default=0)
    # What was in force before, for taking it back: see `labeling.adjudicate.services`.
    before = DocumentField(default=dict, blank=True)
    # Set when the adjudicator took it back.
    withdrawn_at = models.DateTimeField(null=True)
    created_at = MomentField(auto_now_add=True)


class Gold(models.Model):
    """An expectation that was in force for a revision from one moment on."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="golds")
    expectation = DocumentField()
    rationale = models.TextField(blank=True)
    source = models.CharField(max_length=12, choices=GoldSource.choices)
    # Whose proposals it rests on, a name a line: it does not judge these agents. Empty where on none.
    after_agents = models.TextField(blank=True, default="", db_default="")
    adjudication = models.ForeignKey(Adjudication, null=True, on_delete=models.RESTRICT, related_name="+")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = GoldQuerySet.as_manager()

    @property
    def agents_seen(self) -> list[str]:
        """The names of the agents whose proposals it rests on."""
        return self.after_agents.splitlines()


class Dispute(models.Model):
    """Someone, or an import, says that the gold is wrong; an adjudicator decides."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="disputes")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.TextField()
    # What it should be, where that is known.
    expectation = DocumentField(null=True)
    # Who should decide it, and until when: others still may.
    assignee = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    due_on = models.DateField(null=True)
    settled_at = models.DateTimeField(null=True)
    created_at = MomentField(auto_now_add=True)

    objects = DisputeQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["revision"], name="dispute_open", condition=models.Q(settled_at=None)),
            models.Index(fields=["assignee"], name="dispute_assignee", condition=models.Q(settled_at=None)),
        ]


class Feedback(models.Model):
    """The decision about an example that a person had labelled. A later decision takes its place."""

    id = PublicIdField()
    label = models.OneToOneField(Label, on_delete=models.CASCADE, related_name="feedback")
    reviewer = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Null where the example was set aside.
    gold = models.ForeignKey(Gold, null=True, on_delete=models.CASCADE, related_name="+")
    # Null where earlier gold was put in force again.
    adjudication = models.ForeignKey(Adjudication, null=True, on_delete=models.CASCADE, related_name="+")
    # Whether the decision means something other than the label.
    differs = models.BooleanField()
    seen_at = models.DateTimeField(null=True)
    created_at = MomentField(auto_now_add=True)

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["reviewer", "differs", "-id"], name="feedback_reviewer"),
            models.Index(fields=["reviewer"], name="feedback_unseen", condition=models.Q(seen_at=None, differs=True)),
        ]
