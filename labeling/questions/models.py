"""Store what reviewers ask about an example, and what adjudicators answer."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery

from labeling.blindness import RESOLVED, answerable, visible
from labeling.examples.models import Revision
from labeling.label.models import LONGEST_AUTHOR, Label
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import Project, Role, User, within


class CommentQuerySet(models.QuerySet["Comment"]):
    """Reads of comments."""

    def in_project(self, project: Project) -> CommentQuerySet:
        """Return the comments on the project's examples.

        The place is a condition on each comment, or the database would walk all examples of the project to find none.
        """
        revisions = Revision.objects.filter(within(project, "example__dataset"), pk=OuterRef("revision"))
        return self.filter(Exists(revisions))

    def visible_to(self, user: User, role: Role) -> CommentQuerySet:
        """Return the comments that this person may see: in their own threads, by themselves, or on what is resolved."""
        return self.filter(visible(user, role, author="asker") | Q(author=user))

    def readable_by(self, user: User, role: Role) -> CommentQuerySet:
        """Return the comments that this person may read: besides `visible_to`, what they may answer, unnamed."""
        return self.filter(visible(user, role, author="asker") | answerable(user, role))

    def threads(self) -> CommentQuerySet:
        """Return the newest comment of each thread."""
        newer = self.model.objects.filter(revision=OuterRef("revision"), asker=OuterRef("asker"), pk__gt=OuterRef("pk"))
        return self.exclude(Exists(newer)).filter(asker__isnull=False)

    def unanswered_for(self, user: User, role: Role) -> CommentQuerySet:
        """Return the threads that wait for an answer that this person may give: the newest word is the asker's."""
        waiting = self.filter(is_unanswered=True, asker__isnull=False).exclude(asker=user)
        return waiting.filter(answerable(user, role)).exclude(revision__resolution__in=RESOLVED)

    def answered_to(self, user: User) -> CommentQuerySet:
        """Return this person's threads with an answer that they have not acted on.

        The newest word is another's, the example is not resolved, and they have labelled nothing since.
        """
        last = Label.objects.filter(revision=OuterRef("revision"), reviewer=user).order_by("-id")
        answered = self.filter(asker=user).threads().exclude(author=user)
        answered = answered.exclude(revision__resolution__in=RESOLVED)
        labelled = Subquery(last.values("created_at")[:1])
        return answered.alias(labelled_at=labelled).filter(
            Q(labelled_at__isnull=True) | Q(labelled_at__lt=F("created_at"))
        )

    def with_example(self) -> CommentQuerySet:
        """Return comments with their revision, example and dataset loaded."""
        return self.select_related("revision__example__dataset", "revision__tools")


class QuestionView(models.Model):
    """One person opened another's question about an example that was not resolved: they are not asked to label it."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="question_views", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    created_at = MomentField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["revision", "user"], name="question_view_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["user"], name="question_view_user")]


class Comment(models.Model):
    """One remark in the thread between one reviewer and the adjudicators; other reviewers see it once resolved."""

    id = PublicIdField()
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="comments", db_index=False)
    # The reviewer whose thread it is.
    asker = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Who noted it elsewhere, as the imported file names them. Such a note belongs to no thread.
    external_author = models.CharField(max_length=LONGEST_AUTHOR, blank=True, default="", db_default="")
    text = models.TextField()
    # Whether it is the asker's and the newest of its thread: what waits is found without a walk over all that was said.
    is_unanswered = models.BooleanField(default=False, db_default=False)
    created_at = MomentField(auto_now_add=True)

    objects = CommentQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["revision", "asker", "id"], name="comment_thread"),
            models.Index(fields=["asker", "id"], name="comment_asker"),
            models.Index(fields=["asker"], condition=models.Q(is_unanswered=True), name="comment_unanswered"),
            models.Index(fields=["revision"], condition=~models.Q(external_author=""), name="comment_elsewhere"),
        ]
