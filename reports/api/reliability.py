"""Serve reliability over trials in the REST interface: the same analyses as the page and the files."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Example
from reports.api.serializers import RateSerializer
from reports.api.views import GRADING, RunReportView
from reports.pages.reliability import CAME_OUT, read_trial_state
from reports.pages.run_header import graded, run_head
from reports.queries.trials import OTHER_STRATA, OUTCOME, grading_compounding, grading_reliability, trial_counts
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.models import TrialCount
from toolevals.workspace.api.pagination import NewestFirst
from toolevals.workspace.api.serializers import IntervalSerializer


class EstimateSerializer(serializers.Serializer[Any]):
    """A mean over `count` examples with its 95 % interval; null where it is undefined."""

    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    count = serializers.IntegerField()


class PointSerializer(serializers.Serializer[Any]):
    """pass@k and pass^k over the examples with at least k scored trials."""

    k = serializers.IntegerField()
    pass_at_k = EstimateSerializer(source="at")
    pass_hat_k = EstimateSerializer(source="hat")


class GroupSerializer(serializers.Serializer[Any]):
    """The examples of one tool or of one value of a stratum. `rate` is that of single trials."""

    kind = serializers.ChoiceField(["tool", *Example.STRATA])
    name = serializers.CharField()
    examples = serializers.IntegerField()
    rate = EstimateSerializer(source="one")
    pass_at_k = EstimateSerializer(source="at")
    pass_hat_k = EstimateSerializer(source="hat")


class CameOutSerializer(serializers.Serializer[Any]):
    """The number of examples whose scored trials always, sometimes, never passed; the unscored have none."""

    always = serializers.IntegerField()
    sometimes = serializers.IntegerField()
    never = serializers.IntegerField()
    unscored = serializers.IntegerField()


class VarianceSerializer(serializers.Serializer[Any]):
    """The variance of a trial's outcome, split; `consistency` is the share between examples."""

    between = serializers.FloatField()
    within = serializers.FloatField()
    consistency = serializers.FloatField(allow_null=True)
    count = serializers.IntegerField()


class TrialsOverviewSerializer(serializers.Serializer[Any]):
    """A run of several trials."""

    trials = serializers.IntegerField()
    k = serializers.IntegerField()
    curve = PointSerializer(many=True)
    examples = CameOutSerializer(source="came_out")
    variance = VarianceSerializer(allow_null=True)
    groups = GroupSerializer(many=True)


class ChainSerializer(serializers.Serializer[Any]):
    """The scored cases that expect so many calls, and p^k."""

    steps = serializers.IntegerField()
    cases = RateSerializer()
    predicted = serializers.FloatField(allow_null=True)
    predicted_interval = IntervalSerializer(allow_null=True)


class CompoundingSerializer(serializers.Serializer[Any]):
    """The compounding of single steps. `longer` cases take more than five steps."""

    step = RateSerializer()
    whole = RateSerializer()
    chains = ChainSerializer(many=True)
    longer = serializers.IntegerField()
    cases = serializers.IntegerField()


class ReliabilitySerializer(serializers.Serializer[Any]):
    """`trials` is null for a run of one trial, `steps` where no case has several calls."""

    trials = TrialsOverviewSerializer(allow_null=True)
    steps = CompoundingSerializer(allow_null=True)


class TrialCountSerializer(serializers.ModelSerializer[TrialCount]):
    """One example and how its trials came out."""

    revision_id = serializers.UUIDField(source="entry.revision_id")
    external_id = serializers.CharField(source="entry.revision.example.external_id")

    class Meta:
        model = TrialCount
        fields = (
            "revision_id",
            "external_id",
            "tool",
            "bucket",
            "difficulty",
            "passed",
            "failed",
            "unscored",
            "errored",
        )


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
        responses=ReliabilitySerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        head = run_head(self.access, number, "reliability")
        grading = graded(head)
        state = read_trial_state(request.query_params)
        trials = grading_reliability(grading, head.run.trials, state.k, state.of, state.stratum)
        return Response(ReliabilitySerializer({"trials": trials, "steps": grading_compounding(grading)}).data)


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

    serializer_class = TrialCountSerializer
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
