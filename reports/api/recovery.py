"""Serve error recovery in the REST interface: the same analysis as the page and the files."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView

from reports.api.reliability import InOrder
from reports.api.views import GRADING, RunReportView
from reports.recovery.queries import grading_episodes, read_episode_state
from reports.recovery.table import EPISODES
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.runs.grading.models import EPISODES_WENT
from toolevals.runs.models import Episode
from toolevals.workspace.tables import serializer_of


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

    serializer_class = serializer_of(EPISODES, Episode)
    pagination_class = InOrder
    queryset = Episode.objects.none()

    def get_queryset(self) -> QuerySet[Episode]:
        episodes = grading_episodes(self.grading(self.kwargs["number"]), read_episode_state(self.request.query_params))
        return episodes.select_related("case__transcript__entry__revision__example").defer(
            "case__detail", "case__transcript__document", "case__transcript__entry__revision__input"
        )
