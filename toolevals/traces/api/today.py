"""Ask a live agent what production was asked, by REST."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Dataset
from toolevals.runs.models import Agent
from toolevals.traces.api.promotions import filter_said
from toolevals.traces.services.asking_today import TodayRequest, live_agents, today_start
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.idempotency import idempotent
from toolevals.workspace.api.serializers import JobSerializer


class TodaySerializer(serializers.Serializer[Any]):
    """The agent by its agent's id, the dataset, and the filter of the traces whose examples it is asked."""

    agent = serializers.PrimaryKeyRelatedField(queryset=Agent.objects.none())
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.none())
    filter = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False, default=dict)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        project = self.context.get("project")
        if project is not None:
            fields["agent"].queryset = live_agents(project)  # type: ignore[attr-defined]
            fields["dataset"].queryset = Dataset.objects.in_project(project)  # type: ignore[attr-defined]
        return fields

    def validate_filter(self, said: dict[str, str]) -> dict[str, str]:
        """Refuse names and values that are none of a filter of traces."""
        return filter_said(said)


class Today(ProjectView):
    """Ask a live agent what production was asked; the job's result is the page of both runs."""

    @extend_schema(request=TodaySerializer, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        asked = TodaySerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        today = TodayRequest(dataset=said["dataset"], agent=said["agent"], wanted=said["filter"])
        job = today_start(request=today, actor=self.user, role=self.role)
        return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED)
