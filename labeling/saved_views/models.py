"""Store the filters that people have named."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.models import Project, User


class SavedView(models.Model):
    """Filters and a sort of lists of examples, as an address says them, under one person's own name for them."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000)
    created_at = MomentField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "user", "name"], name="saved_view_name"),
        ]
