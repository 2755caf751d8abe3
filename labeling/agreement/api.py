"""Show how far the reviewers of a dataset agree, and the cases behind the figures."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.adjudicate.resolution import settle_due
from labeling.agreement.cache import agreement_counted, labels_read
from labeling.agreement.cases import AGAINST_GOLD, SHOWS, UnitFilter, case_page, names_of
from labeling.agreement.filters import LONGEST, Filters
from labeling.agreement.report import Agreement as Figures
from labeling.agreement.report import comparable_person, shown_reviewers
from labeling.api.base import LabelingView
from labeling.models import Example
from toolevals.grading.metrics.rates import Estimate
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import IntervalSerializer
from toolevals.workspace.models import Role


class FigureSerializer(serializers.Serializer[Estimate]):
    """A figure of `count` units; `value` is null where it is undefined, and then `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    count = serializers.IntegerField()
    reason = serializers.CharField()


class MeasuresSerializer(PlainSerializer):
    """One thing compared. `percent` is a share of 1; `kappa` is null where labels have no classes that recur."""

    percent = FigureSerializer()
    kappa = FigureSerializer(allow_null=True)
    alpha = FigureSerializer()
    ac1 = FigureSerializer()


class ArgumentAgreementSerializer(PlainSerializer):
    """One argument of one tool, where two labels or more call the tool; `differ`: units in which not all agree."""

    tool = serializers.CharField()
    argument = serializers.CharField()
    differ = serializers.IntegerField()
    measures = MeasuresSerializer()


class AgreementCellSerializer(PlainSerializer):
    """In how many units one label chose a tool and another the other: of two people in their order, else in any."""

    one = serializers.CharField()
    other = serializers.CharField()
    units = serializers.IntegerField()


class AgreementPeriodSerializer(PlainSerializer):
    """The units whose last label came in on these days, both included."""

    since = serializers.DateField()
    until = serializers.DateField()
    same_tool = FigureSerializer()
    same_label = FigureSerializer()


class ReviewerAgreementSerializer(PlainSerializer):
    """One person's labels, and those of them that an adjudicator decided about: the share that is right."""

    reviewer = serializers.UUIDField()
    labels = serializers.IntegerField()
    median_seconds = serializers.FloatField(source="seconds")
    right_tool = FigureSerializer()
    right_label = FigureSerializer()


class AllPairsSerializer(PlainSerializer):
    """Every pair of first labels, decided or not, in full blocks of 20; `waiting` pairs wait for a full block."""

    counted = serializers.IntegerField()
    waiting = serializers.IntegerField()
    tool = MeasuresSerializer()
    whole_label = MeasuresSerializer(source="whole")


class AgreementFiguresSerializer(PlainSerializer):
    """The figures of resolved examples, and of `all_pairs` where no filter is set.

    `units` can be compared, `alone` have one label; `reviewers`: all for owners, else oneself.
    """

    labels = serializers.IntegerField()
    units = serializers.IntegerField()
    alone = serializers.IntegerField()
    tool = MeasuresSerializer()
    whole_label = MeasuresSerializer()
    arguments = MeasuresSerializer()
    each_argument = ArgumentAgreementSerializer(many=True)
    matrix = AgreementCellSerializer(many=True)
    periods = AgreementPeriodSerializer(many=True)
    reviewers = ReviewerAgreementSerializer(many=True)
    all_pairs = AllPairsSerializer(allow_null=True)


class AgreementReportSerializer(PlainSerializer):
    """Large datasets are counted by a job: `counted_at` says when, null is now; no figures until it is done once."""

    counted_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True)
    figures = AgreementFiguresSerializer(allow_null=True)


class AgreementFiltersSerializer(PlainSerializer):
    """Says which labels are compared. What makes no sense, or is not yours to ask, counts as not said.

    `since` and `until` are days of a unit's last label. Owners may ask for what one person labelled, or two. With
    `elsewhere` labels that were given elsewhere count, too: if they were blind is not known.
    """

    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)
    guideline = serializers.IntegerField(required=False)
    reviewer = serializers.UUIDField(required=False)
    other = serializers.UUIDField(required=False)
    elsewhere = serializers.ChoiceField(["1"], required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        strata = {name: serializers.CharField(required=False, max_length=LONGEST) for name in Example.STRATA}
        return super().get_fields() | strata


class AskedCasesSerializer(AgreementFiltersSerializer):
    """Says which units: where tools `one` and `two` were chosen; that agree or differ; or a person against decisions.

    `tool` and `argument` name an argument for `show`. `gold` is about the person `of`: oneself, for owners anyone.
    `before` is the revision of the last example that was looked at.
    """

    one = serializers.CharField(required=False)
    two = serializers.CharField(required=False)
    show = serializers.ChoiceField(SHOWS, required=False)
    tool = serializers.CharField(required=False)
    argument = serializers.CharField(required=False)
    gold = serializers.ChoiceField(AGAINST_GOLD, required=False)
    of = serializers.UUIDField(required=False)
    before = serializers.UUIDField(required=False)


class ComparedLabelSerializer(PlainSerializer):
    """One label; `tool` is the class of its tool choice."""

    id = serializers.UUIDField(source="pk")
    reviewer = serializers.UUIDField(allow_null=True)
    tool = serializers.CharField()
    created_at = serializers.DateTimeField(source="at")


class AgreementCaseSerializer(PlainSerializer):
    """Holds what several people said of one revision in one round."""

    example = serializers.UUIDField()
    external_id = serializers.CharField()
    revision = serializers.UUIDField(source="unit.revision")
    round = serializers.IntegerField(source="unit.round")
    same_tool = serializers.BooleanField(source="unit.has_same_tool")
    same_label = serializers.BooleanField(source="unit.has_same_label")
    labels = ComparedLabelSerializer(source="unit.labels", many=True)


class AgreementCasesSerializer(PlainSerializer):
    """Some of them, the newest examples first. A page may hold few or none and still have a `next`."""

    next = serializers.URLField(allow_null=True)
    results = AgreementCaseSerializer(many=True)


class Agreement(LabelingView):
    """The agreement of labels of a dataset's resolved examples, and of each person with decisions."""

    @extend_schema(parameters=[AgreementFiltersSerializer], responses=AgreementReportSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        settle_due(project=self.project)
        filters = Filters.of_address(request.query_params.dict(), names=self.role == Role.OWNER)
        counted = agreement_counted(dataset_row, filters, actor=self.user)
        answer = {
            "counted_at": counted.counted_at,
            "job": counted.job.pk if counted.job else None,
            "figures": self._figures(counted.agreement) if counted.agreement else None,
        }
        return Response(AgreementReportSerializer(answer).data)

    def _figures(self, figures: Figures) -> dict[str, Any]:
        told = shown_reviewers(figures, self.user, self.role)
        return {
            "labels": figures.labels,
            "units": figures.units,
            "alone": figures.alone,
            "tool": figures.tool,
            "whole_label": figures.whole,
            "arguments": figures.arguments,
            "each_argument": figures.each_argument,
            "matrix": [
                {"one": one, "other": other, "units": count} for (one, other), count in sorted(figures.cells.items())
            ],
            "periods": figures.periods,
            "all_pairs": figures.pairs,
            "reviewers": [row for row in figures.reviewers if row.reviewer in told],
        }


class AgreementCases(LabelingView):
    """The units behind a figure, newest examples first, with what each label says."""

    @extend_schema(parameters=[AskedCasesSerializer], responses=AgreementCasesSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        labels_read(dataset_row)
        query = request.query_params.dict()
        filters = Filters.of_address(query, names=self.role == Role.OWNER)
        unit_filter = UnitFilter.of_address(query, of=comparable_person(self.user, self.role, query.get("of", "")))
        page = case_page(dataset_row, filters, unit_filter, query.get("before", ""))
        more = urlencode({**filters.parameters, **unit_filter.parameters, "before": page.older})
        names = names_of(page.units)
        rows = [
            {"unit": unit, "example": example, "external_id": name}
            for unit in page.units
            for example, name in [names[unit.revision]]
        ]
        answer = {"next": request.build_absolute_uri(f"?{more}") if page.older else None, "results": rows}
        return Response(AgreementCasesSerializer(answer).data)
