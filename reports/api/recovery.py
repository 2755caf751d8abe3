"""Serve error recovery in the REST interface: the same analysis as the page and the files."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.recovery import ToolRow
from reports.api.reliability import InOrder
from reports.api.serializers import RateSerializer
from reports.api.views import GRADING, RunReportView
from reports.pages.recovery import grading_episodes, grading_recovery, read_episode_state
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.runs.grading.models import EPISODES_WENT
from toolevals.runs.models import Episode


class TallySerializer(serializers.Serializer[Any]):
    """Failures of some kind: `rate` of those dealt with rightly, `recovery` of those answered well in the end."""

    rate = RateSerializer()
    recovery = RateSerializer()
    unscored = serializers.IntegerField()
    bad_answers = serializers.IntegerField()
    error_answers = serializers.IntegerField(source="errors")
    identical_retries = serializers.IntegerField()


class ErrorClassSerializer(TallySerializer):
    """The failures of one tool with errors of one class."""

    error_class = serializers.ChoiceField(list(ERROR_CLASSES))


class FailingToolSerializer(serializers.Serializer[Any]):
    """One tool that failed: the rate of errors among its answers, and its failures by class."""

    tool = serializers.CharField()
    error_rate = RateSerializer()
    whole = TallySerializer()
    error_classes = serializers.SerializerMethodField()

    @extend_schema_field(ErrorClassSerializer(many=True))
    def get_error_classes(self, row: ToolRow) -> list[dict[str, Any]]:
        return [
            {**TallySerializer(tally).data, "error_class": error_class} for error_class, tally in row.cells if tally
        ]


class ReactionSerializer(serializers.Serializer[Any]):
    """The reaction to a failure, and how many it followed."""

    reaction = serializers.ChoiceField(list(REACTIONS))
    sentence = serializers.CharField()
    whole = TallySerializer(source="tally")


class RecoverySerializer(serializers.Serializer[Any]):
    """The reactions of the agent to failures of tools."""

    cases_with_errors = serializers.IntegerField()
    error_rate = RateSerializer()
    whole = TallySerializer()
    tools = FailingToolSerializer(many=True)
    reactions = ReactionSerializer(many=True)


class EpisodeSerializer(serializers.ModelSerializer[Episode]):
    """One failure of a tool and what followed; `score` is 1, 0.5 or 0, null where no rule can tell."""

    case_id = serializers.UUIDField()
    transcript_id = serializers.UUIDField(source="case.transcript_id")
    revision_id = serializers.UUIDField(source="case.transcript.entry.revision_id")
    external_id = serializers.CharField(source="case.transcript.entry.revision.example.external_id")
    trial = serializers.IntegerField(source="case.transcript.trial")
    bad_answers = serializers.IntegerField(source="failures")
    error_answers = serializers.IntegerField(source="errors")

    class Meta:
        model = Episode
        fields = (
            "case_id",
            "transcript_id",
            "revision_id",
            "external_id",
            "trial",
            "number",
            "tool",
            "error_class",
            "reaction",
            "score",
            "recovered",
            "bad_answers",
            "error_answers",
            "identical_retries",
        )


class RecoveryView(RunReportView):
    """The reactions of a run's agent to failures of tools."""

    @extend_schema(parameters=[GRADING], responses=RecoverySerializer)
    def get(self, request: Request, number: int) -> Response:
        return Response(RecoverySerializer(grading_recovery(self.grading(number))).data)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("tool", str, description="The tool that failed."),
            OpenApiParameter("error_class", str, enum=list(ERROR_CLASSES), description="How it failed at first."),
            OpenApiParameter("reaction", str, enum=list(REACTIONS), description="What followed."),
            OpenApiParameter("how", str, enum=list(EPISODES_WENT), description="How it went."),
        ]
    )
)
class EpisodesView(RunReportView, ListAPIView[Episode]):
    """Every failure of a tool in a run, in pages."""

    serializer_class = EpisodeSerializer
    pagination_class = InOrder
    queryset = Episode.objects.none()

    def get_queryset(self) -> QuerySet[Episode]:
        episodes = grading_episodes(self.grading(self.kwargs["number"]), read_episode_state(self.request.query_params))
        return episodes.select_related("case__transcript__entry__revision__example").defer(
            "case__detail", "case__transcript__document", "case__transcript__entry__revision__input"
        )
