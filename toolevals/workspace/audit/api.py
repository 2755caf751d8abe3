"""Serves the audit log in the REST interface."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.models import (
    AuditEntry,
)


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """One act; without an actor, the system's."""

    actor = UserSerializer(allow_null=True)
    detail = serializers.JSONField(source="shown_detail")

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "actor", "verb", "target_type", "target_id", "detail")


class Audit(ProjectView, ListAPIView[AuditEntry]):
    """The acts in the project, newest first.

    Claims, labels, skips and questions of other people appear once their example is decided.
    """

    serializer_class = AuditSerializer
    queryset = AuditEntry.objects.none()

    def get_queryset(self) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.shown_to(self.user, self.project)
