"""Serve suspect labels in the REST interface."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.run.baseline_agents import version_asked
from reports.suspects.analysis import REASONS
from reports.suspects.queries import STATES, Row, SuspectFilter, page_of
from reports.suspects.services import suspects_counted
from toolevals.traces.models import TraceExample
from toolevals.workspace.api.base import ProjectView


class WitnessSerializer(serializers.Serializer[Any]):
    """A case that a reason can be read in."""

    agent = serializers.CharField()
    run = serializers.IntegerField()
    case = serializers.UUIDField()


class TwinSerializer(serializers.Serializer[Any]):
    """Another example that says the same."""

    revision_id = serializers.UUIDField()
    external_id = serializers.CharField()


class SuspectReasonSerializer(serializers.Serializer[Any]):
    """The reason why gold is suspected: its evidence (a log-likelihood ratio), `against` and `sided` of `voices`."""

    kind = serializers.ChoiceField(choices=list(REASONS))
    evidence = serializers.FloatField()
    against = serializers.IntegerField()
    sided = serializers.IntegerField()
    voices = serializers.IntegerField()
    sentence = serializers.CharField()
    witnesses = WitnessSerializer(many=True)
    examples = TwinSerializer(many=True)


class SuspectSerializer(serializers.Serializer[Any]):
    """An example whose gold the evidence contradicts; dispute it by its `example_id`.

    `says` is the last request, `gold` the expected tools, in a line each.
    """

    rank = serializers.IntegerField()
    example_id = serializers.UUIDField()
    revision_id = serializers.UUIDField()
    external_id = serializers.CharField()
    score = serializers.FloatField()
    state = serializers.ChoiceField(choices=list(STATES))
    says = serializers.CharField()
    gold = serializers.CharField()
    trace = serializers.SerializerMethodField(help_text="That the example was made of, where it is open to the reader.")
    reasons = SuspectReasonSerializer(many=True)

    def get_trace(self, row: Row) -> UUID | None:
        """Return the id of the example's trace; None where there is none, or where it is closed to the reader."""
        traces: dict[UUID, UUID] = self.context["traces"]
        return traces.get(row.example_id)


class SuspectsSerializer(serializers.Serializer[Any]):
    """One page of a version's suspects. `counted_at` is null, and `job` counts, until they are counted once."""

    counted_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True)
    voices = serializers.IntegerField()
    count = serializers.IntegerField()
    pages = serializers.IntegerField()
    results = SuspectSerializer(many=True)


class SuspectsView(ProjectView):
    """The examples of a version whose gold the evidence contradicts, the most suspicious first."""

    @extend_schema(
        parameters=[
            OpenApiParameter("reason", str, enum=list(REASONS)),
            OpenApiParameter("state", str, enum=list(STATES)),
            OpenApiParameter("q", str, description="A part of the external id."),
            OpenApiParameter("page", int, description="From 1; of 25."),
        ],
        responses=SuspectsSerializer,
    )
    def get(self, request: Request, dataset: str, version: str) -> Response:
        version_row = version_asked(self.access, dataset, version)
        kept = suspects_counted(version_row, actor=self.user)
        page = page_of(version_row, SuspectFilter.of_address(request.query_params.dict()), self.user, self.role)
        document = {
            "counted_at": kept.counted_at,
            "job": kept.job_id if kept.job is not None and kept.job.stands else None,
            "voices": kept.voices,
            "count": page.count,
            "pages": page.pages,
            "results": page.rows,
        }
        examples = [row.example_id for row in page.rows]
        traces = TraceExample.objects.open_traces(self.project, examples, self.role)
        return Response(SuspectsSerializer(document, context={"traces": traces}).data)
