"""Serve two runs side by side in the REST interface: the same analyses as the page and the files."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.compared.sentence import change_details, change_sentence, tools_sentence
from reports.analyses.compared.spending import UNITS
from reports.comparison import tables
from reports.comparison.moved import HOWS, MISTAKES, moved_page, read_moved_filter
from reports.comparison.page import asked_runs, outside
from reports.comparison.part import PART
from reports.comparison.registry import registry_change
from reports.comparison.runs import OUTSIDE, TwoRuns
from reports.filters.case_filters import number as read_number
from reports.filters.case_filters import text
from reports.queries.label_noise import noisier
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.label_noise import change_words
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.api.serializers import IntervalSerializer

PAGE, MOST = 100, 1000


class LayerDeltaSerializer(serializers.Serializer[Any]):
    """One rate over the examples that both runs scored. `p_holm` is adjusted over all rows."""

    name = serializers.CharField()
    examples = serializers.IntegerField(source="compared.examples")
    left_out = serializers.IntegerField(source="compared.left_out")
    errored = serializers.IntegerField()
    before = serializers.FloatField(source="compared.before", allow_null=True)
    before_interval = IntervalSerializer(allow_null=True)
    after = serializers.FloatField(source="compared.after", allow_null=True)
    after_interval = IntervalSerializer(allow_null=True)
    difference = serializers.FloatField(source="compared.difference", allow_null=True)
    interval = IntervalSerializer(source="compared.interval", allow_null=True)
    fixed = serializers.IntegerField(source="compared.improved")
    broken = serializers.IntegerField(source="compared.worsened")
    test = serializers.CharField(source="compared.test", allow_null=True)
    p_value = serializers.FloatField(source="compared.p_value", allow_null=True)
    p_holm = serializers.FloatField(allow_null=True)
    change = serializers.ChoiceField(["better", "worse", "same", "unclear"])


class OutsideSerializer(serializers.Serializer[Any]):
    """The number of examples that are not compared, by the reason."""

    only_before = serializers.IntegerField()
    only_after = serializers.IntegerField()
    other_gold = serializers.IntegerField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """The differences of agent and dataset."""

    what = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class WordedOtherwiseSerializer(serializers.Serializer[Any]):
    """A tool that the two agents knew in other words."""

    tool = serializers.CharField(source="change.name")
    kind = serializers.CharField(source="change.kind")


class RunComparisonSerializer(serializers.Serializer[Any]):
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
    layers = LayerDeltaSerializer(many=True)


class DeltaFigureSerializer(serializers.Serializer[Any]):
    """A figure before and after, with the interval of the difference."""

    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)


class MistakesSerializer(serializers.Serializer[Any]):
    """Examples with a mistake before and after; `p_holm` is adjusted over both kinds of every class."""

    before = serializers.FloatField()
    after = serializers.FloatField()
    fixed = serializers.IntegerField()
    broken = serializers.IntegerField()
    p_value = serializers.FloatField()
    p_holm = serializers.FloatField()


class ToolDeltaSerializer(serializers.Serializer[Any]):
    """One class; `support` and `predicted` are before and after."""

    tool = serializers.CharField(source="name")
    support = serializers.ListField(child=serializers.FloatField())
    predicted = serializers.ListField(child=serializers.FloatField())
    precision = DeltaFigureSerializer(source="figures.precision")
    recall = DeltaFigureSerializer(source="figures.recall")
    f1 = DeltaFigureSerializer(source="figures.f1")
    missed = MistakesSerializer()
    wrong = MistakesSerializer()
    stands = serializers.BooleanField()


class ToolDeltasSerializer(serializers.Serializer[Any]):
    """Every class, what moved most first."""

    tools = ToolDeltaSerializer(many=True)


class CellDeltaSerializer(serializers.Serializer[Any]):
    """One cell of either matrix."""

    expected = serializers.CharField()
    actual = serializers.CharField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    difference = serializers.FloatField(source="delta")
    entered = serializers.IntegerField()
    left = serializers.IntegerField()
    row_total = serializers.FloatField()


class MatrixDeltaSerializer(serializers.Serializer[Any]):
    """The difference of two matrices, over the examples with a place in both."""

    examples = serializers.IntegerField()
    left_out = serializers.IntegerField()
    classes = serializers.ListField(child=serializers.CharField())
    cells = CellDeltaSerializer(many=True)


class SideCaseSerializer(serializers.Serializer[Any]):
    """One trial in one run; trials count from 0."""

    case_id = serializers.UUIDField(source="id")
    trial = serializers.IntegerField()
    expected = serializers.CharField()
    actual = serializers.CharField()
    outcome = serializers.CharField(source="statuses.outcome")
    selection = serializers.CharField(source="statuses.selection")
    arguments = serializers.CharField(source="statuses.arguments")
    mode = serializers.CharField(allow_blank=True)


class MovedExampleSerializer(serializers.Serializer[Any]):
    """One example of a list, with its trials in both runs."""

    revision_id = serializers.UUIDField(source="revision")
    external_id = serializers.CharField()
    before = SideCaseSerializer(many=True)
    after = SideCaseSerializer(many=True)


class MovedExamplesSerializer(serializers.Serializer[Any]):
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

    @extend_schema(parameters=PART_PARAMETERS, responses=ToolDeltasSerializer)
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(ToolDeltasSerializer({"tools": self.runs(number, candidate).comparison.tools}).data)


class CompareMatrixView(PairView):
    """The changes in each cell of the matrix of first calls."""

    @extend_schema(parameters=PART_PARAMETERS, responses=MatrixDeltaSerializer)
    def get(self, request: Request, number: int, candidate: int) -> Response:
        return Response(MatrixDeltaSerializer(self.runs(number, candidate).comparison.matrix).data)


class RegistryChangeSerializer(serializers.Serializer[Any]):
    """A description, argument or fact of a tool that the two agents were given otherwise."""

    tool = serializers.CharField()
    kind = serializers.CharField()
    part = serializers.CharField()
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)


class CompareRegistryView(PairView):
    """The differences in the descriptions of the two agents' tools."""

    @extend_schema(responses=RegistryChangeSerializer(many=True))
    def get(self, request: Request, number: int, candidate: int) -> Response:
        runs = self.runs(number, candidate)
        rows = tables.registry(registry_change(runs, runs.comparison))
        named = [dict(zip(tables.REGISTRY, row, strict=True)) for row in rows]
        return Response(RegistryChangeSerializer(named, many=True).data)


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
