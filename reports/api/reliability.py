"""Serve reliability over trials in the REST interface: the same analyses as the page and the files."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.views import GRADING, RunReportView
from reports.pages.reliability import CAME_OUT, read_trial_state
from reports.pages.run_header import graded, run_head
from reports.queries.trials import OTHER_STRATA, OUTCOME, grading_compounding, grading_reliability, trial_counts
from reports.tables.reliability import OVERVIEW, TRIALS
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.models import TrialCount
from toolevals.workspace.api.base import NewestFirst
from toolevals.workspace.tables import serializer_of


class InOrder(NewestFirst):
    """Pages in the order of the dataset version."""

    ordering = "id"


class ReliabilityView(RunReportView):
    """The reliability of a run by its trials."""

    @extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("k", int, description="The k of groups; by default all trials."),
            OpenApiParameter("of", str, enum=list(VERDICT_NAMES), description="What a trial passes by: the outcome."),
            OpenApiParameter(
                "stratum", str, enum=list(OTHER_STRATA), description="Groups by it, not by bucket and difficulty."
            ),
        ],
        responses=serializer_of(OVERVIEW),
    )
    def get(self, request: Request, number: int) -> Response:
        head = run_head(self.access, number, "reliability")
        grading = graded(head)
        state = read_trial_state(request.query_params)
        trials = grading_reliability(grading, head.run.trials, state.k, state.of, state.stratum)
        return Response(serializer_of(OVERVIEW)({"trials": trials, "steps": grading_compounding(grading)}).data)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("how", str, enum=list(CAME_OUT), description="How the scored trials came out."),
            OpenApiParameter("tool", str, description="The first call that is expected."),
        ]
    )
)
class TrialsView(RunReportView, ListAPIView[TrialCount]):
    """Every example of a run of several trials, in pages."""

    serializer_class = serializer_of(TRIALS, TrialCount)
    pagination_class = InOrder
    queryset = TrialCount.objects.none()

    def get_queryset(self) -> QuerySet[TrialCount]:
        state = read_trial_state(self.request.query_params)
        if state.of != OUTCOME:
            raise serializers.ValidationError(
                {"of": "Trials are listed by their outcome here; trials.csv takes others."}
            )
        counts = trial_counts(self.grading(self.kwargs["number"]), state.how, state.tool)
        return counts.select_related("entry__revision__example").defer("entry__revision__input")
