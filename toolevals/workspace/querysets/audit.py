"""Reads the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from toolevals.workspace.models import AuditEntry, Project, User  # noqa: F401


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Reads of acts. Whatever leaves the application goes through `shown_to`."""

    def shown_to(self, user: User, project: Project) -> AuditQuerySet:
        """Return a project's acts with who did them, without those that are withheld from this person for now.

        A lower room does not know what must stay unsaid in the higher ones: the settings list functions of theirs,
        `AUDIT_WITHHELD`, each `(user) -> Q`, the condition on an act that is withheld.
        """
        shown = self.filter(project=project).select_related("actor")
        for path in settings.AUDIT_WITHHELD:
            shown = shown.exclude(import_string(path)(user))
        return shown
