"""Serve two runs side by side in the REST interface: in all, by stratum, by judge and by metric."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Example
from reports.compare import table as tables
from reports.compare.analysis import change_details, change_sentence, tools_sentence
from reports.compare.judges import judge_deltas
from reports.compare.metrics import compared_metrics
from reports.compare.moved import HOWS, MISTAKES, moved_page, read_moved_filter
from reports.compare.page import asked_runs, outside, strata_of, stratum_named, stratum_rows
from reports.compare.parameters import compared_parameters
from reports.compare.queries import OUTSIDE, PART, TwoRuns
from reports.compare.registry import registry_change
from reports.compare.spending import UNITS, compared_spending
from reports.filters.case_filters import number as read_number
from reports.filters.case_filters import text
from reports.run.queries import noisier
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.numbers import change_words
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.tables import serializer_of

PAGE, MOST = 100, 1000


class OutsideSerializer(PlainSerializer):
    """The number of examples that are not compared, by the reason."""

    only_before = serializers.IntegerField()
    only_after = serializers.IntegerField()
    other_gold = serializers.IntegerField()


class DifferenceSerializer(PlainSerializer):
    """The differences of agent and dataset."""

    what = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class WordedOtherwiseSerializer(PlainSerializer):
    """A tool that the two agents knew in other words."""

    tool = serializers.CharField(source="change.name")
    kind = serializers.CharField(source="change.kind")


class RunComparisonSerializer(PlainSerializer):
    """Two runs on the examples that both hold with the same gold."""

    baseline = serializers.IntegerField()
    candidate = serializers.IntegerField()
    examples = serializers.IntegerField()
    outside = OutsideSerializer()
    sentence = serializers.CharField()
    details = serializers.CharField()
    tools_sentence = serializers.CharField()
    label_noise = serializers.CharField()
    cautions = serializers.ListField(child=serializers.CharField())
    differences = DifferenceSerializer(many=True)
    registry = WordedOtherwiseSerializer(many=True)
    layers = serializer_of(tables.LAYERS)(many=True)


class SideCaseSerializer(PlainSerializer):
    """One trial in one run; trials count from 0."""

    case_id = serializers.UUIDField(source="id")
    trial = serializers.IntegerField()
    expected = serializers.CharField()
    actual = serializers.CharField()
    outcome = serializers.CharField(source="statuses.outcome")
    selection = serializers.CharField(source="statuses.selection")
    arguments = serializers.CharField(source="statuses.arguments")
    mode = serializers.CharField(allow_blank=True)


class MovedExampleSerializer(PlainSerializer):
    """One example of a list, with its trials in both runs."""

    revision_id = serializers.UUIDField(source="revision")
    external_id = serializers.CharField()
    before = SideCaseSerializer(many=True)
    after = SideCaseSerializer(many=True)


class MovedExamplesSerializer(PlainSerializer):
    """A page of a list; `next` is the address of the next one."""

    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    results = MovedExampleSerializer(many=True)


# Conditions on the examples that are compared.
PART_PARAMETERS = [OpenApiParameter(name, str, description="Only these examples.") for name in PART]


class PairView(ProjectView):
    """A report on two runs."""

    def runs(self, number: int, candidate: int) -> TwoRuns:
        """Return the two runs. Raises Problems with a sentence where they cannot be compared, or Http404."""
        two_runs = asked_runs(self.access, number, candidate)
        if two_runs is None:
            raise Problems(409, "A run is not graded yet.")
        if two_runs.refusal:
            raise Problems(409, two_runs.refusal)
        return two_runs


class CompareView(PairView):
    """The comparison of a candidate with a baseline, in each layer and depth. 409 where they cannot be compared."""

    @extend_schema(
        parameters=[
            OpenApiParameter("layer", str, enum=list(VERDICT_NAMES), description="What the sentence is of."),
            *PART_PARAMETERS,
        ],
        responses=RunComparisonSerializer,
    )
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs = self.runs(number, candidate)
        comparison = runs.comparison
        layer = comparison.layer(text(request.query_params, "layer"))
        document = {
            "baseline": number,
            "candidate": candidate,
            "examples": comparison.examples,
            "outside": dict.fromkeys(OUTSIDE, 0) | {name: count for name, _, count in outside(runs)},
            "sentence": change_sentence(layer),
            "details": change_details(layer),
            "tools_sentence": tools_sentence(comparison.tools),
            "label_noise": change_words(noisier(runs.gradings)),
            "cautions": runs.cautions,
            "differences": [dict(zip(("what", "before", "after"), each, strict=True)) for each in runs.differences],
            "registry": registry_change(runs, comparison),
            "layers": comparison.layers,
        }
        return Response(RunComparisonSerializer(document).data)


class CompareToolsView(PairView):
    """The changes for each tool."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.TOOL_DELTAS))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(
            serializer_of(tables.TOOL_DELTAS)({"tools": self.runs(number, candidate).comparison.tools}).data
        )


class CompareMatrixView(PairView):
    """The changes in each cell of the matrix of first calls."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.MATRIX_DELTA))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.MATRIX_DELTA)(self.runs(number, candidate).comparison.matrix).data)


class CompareRegistryView(PairView):
    """The differences in the descriptions of the two agents' tools."""

    @extend_schema(responses=serializer_of(tables.REGISTRY)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs = self.runs(number, candidate)
        rows = tables.registry(registry_change(runs, runs.comparison))
        return Response(serializer_of(tables.REGISTRY)(rows, many=True).data)


class CompareCasesView(PairView):
    """The examples that moved in a layer, a tool or a cell, or that are not compared."""

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "of",
                str,
                description=f"In what: {', '.join((*VERDICT_NAMES, *MISTAKES, *OUTSIDE))}, `judged:` and a rubric, "
                f"a metric, {', '.join(UNITS)}, or `argument`; by default the outcome.",
            ),
            OpenApiParameter("how", str, enum=list(HOWS), description="Which way; by default all that moved."),
            OpenApiParameter("tool", str, description="Of `missed`, `wrong` and `argument`: of which tool."),
            OpenApiParameter("parameter", str, description="Of `argument`: which one."),
            OpenApiParameter("expected", str, description="With `actual`: the cell that they entered or left."),
            OpenApiParameter("actual", str),
            OpenApiParameter("start", int, description="How many to skip."),
            OpenApiParameter("limit", int, description=f"At most {MOST}."),
            *PART_PARAMETERS,
        ],
        responses=MovedExamplesSerializer,
    )
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs, moved_filter = self.runs(number, candidate), read_moved_filter(request.query_params)
        start = read_number(request.query_params, "start") or 0
        limit = max(1, min(read_number(request.query_params, "limit") or PAGE, MOST))
        page = moved_page(runs, moved_filter, start, limit)
        address = request.build_absolute_uri(request.path)
        more = None if page.more is None else f"{address}?{moved_filter.query()}&start={page.more}&limit={limit}"
        document = {"count": page.count, "next": more, "results": page.rows}
        return Response(MovedExamplesSerializer(document).data)


class CompareStrataView(PairView):
    """The changes of one rate in each value of a stratum."""

    @extend_schema(
        parameters=[
            OpenApiParameter("by", str, enum=list(Example.STRATA), description="Which stratum; by default the first."),
            OpenApiParameter("layer", str, enum=list(VERDICT_NAMES), description="Which rate; by default the outcome."),
            *PART_PARAMETERS,
        ],
        responses=serializer_of(tables.STRATA)(many=True),
    )
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs = self.runs(number, candidate)
        layer = runs.comparison.layer(text(request.query_params, "layer"))
        name = stratum_named(text(request.query_params, "by"))
        rows = strata_of(runs, name, layer.name) if layer else ()
        named = stratum_rows(name, rows)
        return Response(serializer_of(tables.STRATA)(named, many=True).data)


class CompareJudgesView(PairView):
    """The changes in the verdicts of judges: models, in addition to the rules."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.JUDGES)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.JUDGES)(judge_deltas(self.runs(number, candidate)), many=True).data)


class CompareMetricsView(PairView):
    """The changes in the metrics of whole cases."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.METRICS)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.METRICS)(compared_metrics(self.runs(number, candidate)), many=True).data)


class CompareSpendingView(PairView):
    """The changes in what conversations take: money, tokens and time."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.SPENDING)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(serializer_of(tables.SPENDING)(compared_spending(self.runs(number, candidate)), many=True).data)


class CompareParametersView(PairView):
    """The changes in each parameter of each tool."""

    @extend_schema(parameters=PART_PARAMETERS, responses=serializer_of(tables.PARAMETERS)(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(
            serializer_of(tables.PARAMETERS)(compared_parameters(self.runs(number, candidate)), many=True).data
        )
