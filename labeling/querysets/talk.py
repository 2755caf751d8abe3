"""Reads of comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from labeling.blindness import visible
from toolevals.workspace.models import Role

if TYPE_CHECKING:
    from labeling.models import Comment  # noqa: F401
    from toolevals.workspace.models import User


class CommentQuerySet(models.QuerySet["Comment"]):
    """Reads of comments."""

    def visible_to(self, user: User, role: Role) -> CommentQuerySet:
        """Return the comments that this person may see: in their own threads, by themselves, or on what is resolved."""
        return self.filter(visible(user, role, author="asker") | Q(author=user))
