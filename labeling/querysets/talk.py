"""Read comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery

from labeling.blindness import RESOLVED, answerable, visible
from toolevals.workspace.models import Role, within

if TYPE_CHECKING:
    from labeling.models import Comment  # noqa: F401
    from toolevals.workspace.models import Project, User


class CommentQuerySet(models.QuerySet["Comment"]):
    """Reads of comments."""

    def in_project(self, project: Project) -> CommentQuerySet:
        """Return the comments on the project's examples.

        The place is a condition on each comment, or the database would walk all examples of the project to find none.
        """
        from labeling.models import Revision

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
        from labeling.models import Label

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
