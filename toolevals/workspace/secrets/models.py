"""Store what programs need to be let in elsewhere: kept encrypted, never shown again."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.projects.models import Project


class Secret(models.Model):
    """A key or password under the name by which a project's agents, simulators and judges refer to it."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="secrets")
    name = models.SlugField(max_length=60)
    # See `toolevals.workspace.secrets.services`.
    sealed = models.TextField()
    # Where it may be sent: origins as toolevals.agents.secret_binding writes them. Empty: nowhere.
    addresses = DocumentField(default=list)
    # Who set it last, and when.
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = MomentField(auto_now=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name"], name="secret_name"),
        ]

    def __str__(self) -> str:
        return self.name
