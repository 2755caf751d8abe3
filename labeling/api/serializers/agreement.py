"""Show how far reviewers agree, and the cases behind it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.agreement.cases import AGAINST_GOLD, SHOWS
from labeling.agreement.filters import LONGEST
from labeling.api.serializers.figures import FigureSerializer
from labeling.models import Example


class MeasuresSerializer(serializers.Serializer[Any]):
    """One thing compared. `percent` is a share of 1; `kappa` is null where labels have no classes that recur."""

    percent = FigureSerializer()
    kappa = FigureSerializer(allow_null=True)
    alpha = FigureSerializer()
    ac1 = FigureSerializer()


class ArgumentAgreementSerializer(serializers.Serializer[Any]):
    """One argument of one tool, where two labels or more call the tool; `differ`: units in which not all agree."""

    tool = serializers.CharField()
    argument = serializers.CharField()
    differ = serializers.IntegerField()
    measures = MeasuresSerializer()


class AgreementCellSerializer(serializers.Serializer[Any]):
    """In how many units one label chose a tool and another the other: of two people in their order, else in any."""

    one = serializers.CharField()
    other = serializers.CharField()
    units = serializers.IntegerField()


class AgreementPeriodSerializer(serializers.Serializer[Any]):
    """The units whose last label came in on these days, both included."""

    since = serializers.DateField()
    until = serializers.DateField()
    same_tool = FigureSerializer()
    same_label = FigureSerializer()


class ReviewerAgreementSerializer(serializers.Serializer[Any]):
    """One person's labels, and those of them that an adjudicator decided about: the share that is right."""

    reviewer = serializers.UUIDField()
    labels = serializers.IntegerField()
    median_seconds = serializers.FloatField(source="seconds")
    right_tool = FigureSerializer()
    right_label = FigureSerializer()


class AllPairsSerializer(serializers.Serializer[Any]):
    """Every pair of first labels, decided or not, in full blocks of 20; `waiting` pairs wait for a full block."""

    counted = serializers.IntegerField()
    waiting = serializers.IntegerField()
    tool = MeasuresSerializer()
    whole_label = MeasuresSerializer(source="whole")


class AgreementFiguresSerializer(serializers.Serializer[Any]):
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


class AgreementReportSerializer(serializers.Serializer[Any]):
    """Large datasets are counted by a job: `counted_at` says when, null is now; no figures until it is done once."""

    counted_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True)
    figures = AgreementFiguresSerializer(allow_null=True)


class AgreementFiltersSerializer(serializers.Serializer[Any]):
    """Which labels are compared. What makes no sense, or is not yours to ask, counts as not said.

    `since` and `until` are days of a unit's last label. Owners may ask for what one person labelled, or two.
    """

    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)
    guideline = serializers.IntegerField(required=False)
    reviewer = serializers.UUIDField(required=False)
    other = serializers.UUIDField(required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        strata = {name: serializers.CharField(required=False, max_length=LONGEST) for name in Example.STRATA}
        return super().get_fields() | strata


class AskedCasesSerializer(AgreementFiltersSerializer):
    """Which units: where tools `one` and `two` were chosen; that agree or differ; or of a person against decisions.

    `tool` and `argument` name an argument for `show`. `gold` is about the person `of`: oneself, for owners anybody.
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


class ComparedLabelSerializer(serializers.Serializer[Any]):
    """One label; `tool` is the class of its tool choice."""

    id = serializers.UUIDField(source="pk")
    reviewer = serializers.UUIDField(allow_null=True)
    tool = serializers.CharField()
    created_at = serializers.DateTimeField(source="at")


class AgreementCaseSerializer(serializers.Serializer[Any]):
    """What several people said of one revision in one round."""

    example = serializers.UUIDField()
    external_id = serializers.CharField()
    revision = serializers.UUIDField(source="unit.revision")
    round = serializers.IntegerField(source="unit.round")
    same_tool = serializers.BooleanField(source="unit.has_same_tool")
    same_label = serializers.BooleanField(source="unit.has_same_label")
    labels = ComparedLabelSerializer(source="unit.labels", many=True)


class AgreementCasesSerializer(serializers.Serializer[Any]):
    """Some of them, the newest examples first. A page may hold few or none and still have a `next`."""

    next = serializers.URLField(allow_null=True)
    results = AgreementCaseSerializer(many=True)
