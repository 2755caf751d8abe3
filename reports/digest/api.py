"""Serve the digest of a week in the REST interface."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.digest.queries import Week, digest_of
from reports.digest.table import LINE
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of


class DigestSerializer(PlainSerializer):
    """Tells what a week brought, as you may know it; `cut` names the sections that have more than 50 lines."""

    since = serializers.DateField(source="week.since")
    until = serializers.DateField(source="week.until")
    cut = serializers.ListField(child=serializers.CharField())
    lines = serializer_of(LINE)(many=True)


class DigestView(ProjectView):
    """The digest of a week: issues, gates, runs, agreement, and what to label next."""

    @extend_schema(
        parameters=[OpenApiParameter("until", str, description="The last of the seven days; today unless said.")],
        responses=DigestSerializer,
    )
    def get(self, request: Request) -> Response:
        found = digest_of(self.project, self.user, self.role, Week.of_address(request.query_params.dict()))
        cut = [section.name for section in found.sections if section.is_cut]
        return Response(DigestSerializer({"week": found.week, "cut": cut, "lines": found.lines}).data)
