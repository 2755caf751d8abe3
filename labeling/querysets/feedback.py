"""Read what came of one's labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from labeling.blindness import is_resolved
from toolevals.workspace.models import within

if TYPE_CHECKING:
    from labeling.models import Feedback  # noqa: F401
    from toolevals.workspace.models import Project, User


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
