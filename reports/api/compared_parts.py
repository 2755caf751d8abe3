"""Serve two runs side by side in the REST interface, by stratum, by judge and by metric."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Example
from reports.analyses.compared.metrics import MetricDelta
from reports.api.comparison import PART_PARAMETERS, LayerDeltaSerializer, PairView
from reports.comparison.judges import judge_deltas
from reports.comparison.metrics import compared_metrics
from reports.comparison.page import strata_of, stratum_named
from reports.comparison.parameters import compared_parameters
from reports.comparison.spending import compared_spending
from reports.filters.case_filters import text
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.workspace.api.serializers import IntervalSerializer


class StratumDeltaSerializer(serializers.Serializer[Any]):
    """One value of a stratum, empty for the examples without one; `p_holm` is adjusted over its values."""

    stratum = serializers.CharField()
    value = serializers.CharField()
    change = LayerDeltaSerializer()


class CompareStrataView(PairView):
    """The changes of one rate in each value of a stratum."""

    @extend_schema(
        parameters=[
            OpenApiParameter("by", str, enum=list(Example.STRATA), description="Which stratum; by default the first."),
            OpenApiParameter("layer", str, enum=list(VERDICT_NAMES), description="Which rate; by default the outcome."),
            *PART_PARAMETERS,
        ],
        responses=StratumDeltaSerializer(many=True),
    )
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs = self.runs(number, candidate)
        layer = runs.comparison.layer(text(request.query_params, "layer"))
        name = stratum_named(text(request.query_params, "by"))
        rows = strata_of(runs, name, layer.name) if layer else ()
        named = [{"stratum": name, "value": row.value, "change": row.delta} for row in rows]
        return Response(StratumDeltaSerializer(named, many=True).data)


class JudgeSideSerializer(serializers.Serializer[Any]):
    """The judge of one run. `flag` says why its numbers need care; empty where they need none."""

    judge = serializers.CharField()
    model = serializers.CharField()
    version = serializers.IntegerField()
    flag = serializers.CharField(source="mark.flag")


class ShareDeltaSerializer(serializers.Serializer[Any]):
    """A mean over examples before and after; `interval` is that of the difference."""

    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)


class JudgeDeltaSerializer(serializers.Serializer[Any]):
    """A rubric that both runs were judged by: the share that passes, and the mean of the values, over `examples`.

    `hidden` examples are left out while people rate them. `p_holm` is adjusted over all rubrics.
    """

    rubric = serializers.CharField(source="after.rubric")
    before = JudgeSideSerializer()
    after = JudgeSideSerializer()
    examples = serializers.IntegerField(source="compared.examples")
    left_out = serializers.IntegerField(source="compared.left_out")
    hidden = serializers.IntegerField()
    passed = ShareDeltaSerializer(source="compared")
    mean = ShareDeltaSerializer(source="values")
    fixed = serializers.IntegerField(source="compared.improved")
    broken = serializers.IntegerField(source="compared.worsened")
    test = serializers.CharField(source="compared.test", allow_null=True)
    p_value = serializers.FloatField(source="compared.p_value", allow_null=True)
    p_holm = serializers.FloatField(allow_null=True)


class CompareJudgesView(PairView):
    """The changes in the verdicts of judges: models, in addition to the rules."""

    @extend_schema(parameters=PART_PARAMETERS, responses=JudgeDeltaSerializer(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(JudgeDeltaSerializer(judge_deltas(self.runs(number, candidate)), many=True).data)


class PairedSerializer(serializers.Serializer[Any]):
    """A paired change: over how many examples, and how sure it is. `p_holm` is adjusted over all rows."""

    examples = serializers.IntegerField(source="compared.examples")
    left_out = serializers.IntegerField(source="compared.left_out")
    test = serializers.CharField(source="compared.test", allow_null=True)
    p_value = serializers.FloatField(source="compared.p_value", allow_null=True)
    p_holm = serializers.FloatField(allow_null=True)


class MeanDeltaSerializer(PairedSerializer):
    """A mean in both runs; `rose` and `fell` count the examples that changed."""

    mean = ShareDeltaSerializer(source="compared")
    rose = serializers.IntegerField(source="compared.improved")
    fell = serializers.IntegerField(source="compared.worsened")


class MetricDeltaSerializer(MeanDeltaSerializer):
    """The mean of a metric of whole cases in both runs, over `examples`; `rose` and `fell` count those that changed.

    `p_holm` is adjusted over all metrics.
    """

    metric = serializers.CharField(source="name")
    version_before = serializers.SerializerMethodField()
    version_after = serializers.SerializerMethodField()

    def get_version_before(self, row: MetricDelta) -> str:
        return row.versions[0]

    def get_version_after(self, row: MetricDelta) -> str:
        return row.versions[1]


class SpendingDeltaSerializer(MeanDeltaSerializer):
    """The mean of what a conversation takes in both runs, over the `examples` of which both say it.

    `unit` is that of the means: money in the currency of each run's prices, tokens in and out, milliseconds. `rose` and
    `fell` count the examples that took more and less; `p_holm` is adjusted over all rows.
    """

    name = serializers.CharField()
    unit = serializers.CharField()


class ParameterDeltaSerializer(PairedSerializer):
    """The share of calls to the right tool whose parameter is right, in both runs, paired over `examples`.

    `moved` is `regressed` or `improved` where the change stands; `p_holm` is adjusted over all parameters.
    """

    tool = serializers.CharField()
    argument = serializers.CharField(allow_blank=True)
    right = ShareDeltaSerializer(source="compared")
    fixed = serializers.IntegerField(source="compared.improved")
    broken = serializers.IntegerField(source="compared.worsened")
    moved = serializers.CharField(allow_blank=True)


class CompareMetricsView(PairView):
    """The changes in the metrics of whole cases."""

    @extend_schema(parameters=PART_PARAMETERS, responses=MetricDeltaSerializer(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(MetricDeltaSerializer(compared_metrics(self.runs(number, candidate)), many=True).data)


class CompareSpendingView(PairView):
    """The changes in what conversations take: money, tokens and time."""

    @extend_schema(parameters=PART_PARAMETERS, responses=SpendingDeltaSerializer(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(SpendingDeltaSerializer(compared_spending(self.runs(number, candidate)), many=True).data)


class CompareParametersView(PairView):
    """The changes in each parameter of each tool."""

    @extend_schema(parameters=PART_PARAMETERS, responses=ParameterDeltaSerializer(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(ParameterDeltaSerializer(compared_parameters(self.runs(number, candidate)), many=True).data)
