"""Store what was done, by whom, when."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.old_names import with_new_names
from toolevals.workspace.projects.models import Project


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

    def made_after(self, pk: UUID | None) -> AuditQuerySet:
        """Return acts in the order in which they were made, from the one after `pk` on."""
        later = self.order_by("pk")
        return later if pk is None else later.filter(pk__gt=pk)

    def made_before(self, moment: datetime) -> AuditQuerySet:
        """Return the acts whose ids were made before a moment."""
        return self.filter(pk__lt=UUID(int=int(moment.timestamp() * 1000) << 80))


class AuditEntry(models.Model):
    """One act of one service. Rows are only ever added, as triggers enforce: `toolevals.workspace.audit.triggers`."""

    id = PublicIdField()
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="audit")
    # Null is the system itself.
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # The service's name, such as "label_submit".
    verb = models.CharField(max_length=60)
    target_type = models.CharField(max_length=60)
    target_id = models.UUIDField()
    detail = DocumentField(default=dict)
    at = MomentField(auto_now_add=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "-id"], name="audit_project"),
            models.Index(fields=["target_id", "id"], name="audit_target"),
        ]

    @property
    def shown_detail(self) -> dict[str, Any]:
        """The detail under today's names: old entries are never rewritten."""
        return with_new_names(self.detail)


class AuditOpening(models.Model):
    """Lets the transaction that holds it remove the acts in a project, or change those of a person.

    Django's deferred foreign key is asked when the transaction ends: `held_by` names no row, so an opening that is
    still there can't be committed.
    """

    id = PublicIdField()
    project = models.UUIDField(null=True)
    person = models.UUIDField(null=True)
    held_by = models.ForeignKey("self", on_delete=models.DO_NOTHING, related_name="+", db_index=False)
