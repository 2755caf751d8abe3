"""Show what analyses look like in JSON: shares are 0..1, with every digit."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from toolevals.grading.engine.case_findings import FAMILIES
from toolevals.presentation.table import RATE
from toolevals.runs.api.reread_scores import CorrectedScoreSerializer
from toolevals.runs.api.serializers import LabelNoiseSerializer
from toolevals.workspace.api.serializers import IntervalSerializer
from toolevals.workspace.tables import serializer_of

RateSerializer = serializer_of(RATE)


class CellSerializer(serializers.Serializer[Any]):
    """One cell that holds something. `called` is `actual`, or the class that `actual` is a part of.

    `arguments` is the verdict on them, where classes are divided by it. `expected_class` is `expected`, or the class
    that `expected` is a part of, and `expected_value` the value in the gold, where classes are divided by it.
    """

    expected = serializers.CharField()
    actual = serializers.CharField()
    count = serializers.IntegerField()
    row_total = serializers.IntegerField()
    column_total = serializers.IntegerField()
    row_share = serializers.FloatField(allow_null=True)
    row_share_low = serializers.FloatField(source="rate.low", allow_null=True)
    row_share_high = serializers.FloatField(source="rate.high", allow_null=True)
    column_share = serializers.FloatField(allow_null=True)
    cost = serializers.FloatField(source="spent", allow_null=True)
    costed = serializers.IntegerField(allow_null=True)
    called = serializers.CharField()
    arguments = serializers.CharField(allow_blank=True)
    expected_class = serializers.CharField()
    expected_value = serializers.CharField(allow_blank=True)


class MatrixSerializer(serializers.Serializer[Any]):
    """A confusion matrix. Rows and columns are in the order that was asked for; cells are row by row."""

    total = serializers.IntegerField()
    accuracy = RateSerializer()
    rows = serializers.ListField(child=serializers.CharField())
    columns = serializers.ListField(child=serializers.CharField())
    cells = CellSerializer(many=True)


class InsteadSerializer(serializers.Serializer[Any]):
    """The class that was called instead most often."""

    actual = serializers.CharField()
    count = serializers.IntegerField()


class ToolSerializer(serializers.Serializer[Any]):
    """One class of the matrix."""

    tool = serializers.CharField(source="name")
    support = serializers.IntegerField()
    predicted = serializers.IntegerField()
    correct = serializers.IntegerField()
    precision = RateSerializer()
    recall = RateSerializer()
    f1 = serializers.FloatField(allow_null=True)
    f1_interval = IntervalSerializer(allow_null=True)
    most_called_instead = InsteadSerializer(source="instead", allow_null=True)


class ToolTableSerializer(serializers.Serializer[Any]):
    """The per-tool table, worst F1 first."""

    accuracy = RateSerializer()
    macro_f1 = serializers.FloatField(allow_null=True)
    micro_f1 = serializers.FloatField(allow_null=True)
    tools = ToolSerializer(source="rows", many=True)


class ArgumentCountsSerializer(serializers.Serializer[Any]):
    """In how many calls an argument is wrong in each way."""

    changed = serializers.IntegerField()
    missing = serializers.IntegerField()
    extra = serializers.IntegerField()
    invalid = serializers.IntegerField()


class ArgumentSerializer(serializers.Serializer[Any]):
    """One parameter of one tool; `wrong` counts calls to the right tool."""

    tool = serializers.CharField()
    argument = serializers.CharField(allow_blank=True)
    counts = ArgumentCountsSerializer()
    wrong = RateSerializer()


class FindingSerializer(serializers.Serializer[Any]):
    """The number of findings of a kind about a tool; "" stands for all tools, and for all kinds of a family."""

    family = serializers.ChoiceField(choices=tuple(FAMILIES))
    kind = serializers.CharField(allow_blank=True)
    tool = serializers.CharField(allow_blank=True)
    cases = serializers.IntegerField()
    count = serializers.IntegerField()
    rate = RateSerializer(allow_null=True)
    meaning = serializers.CharField(allow_blank=True)


class OverreachRowSerializer(serializers.Serializer[Any]):
    """A cell of the matrix of aligned calls with excess calls, or with others to a wrong tool whose cost is known.

    `extra_cost` is in the specs' cost, relative to the other tools; tokens and money are means of this run's calls.
    """

    expected = serializers.CharField()
    actual = serializers.CharField()
    calls = serializers.IntegerField(source="count")
    kind = serializers.CharField()
    why = serializers.CharField(allow_blank=True)
    exposed = serializers.ListField(child=serializers.CharField())
    extra_cost = serializers.FloatField(source="extra", allow_null=True)
    extra_cost_in_all = serializers.FloatField(source="extra_in_all", allow_null=True)
    extra_tokens = serializers.FloatField(allow_null=True)
    extra_tokens_in_all = serializers.FloatField(source="tokens_in_all", allow_null=True)
    extra_money = serializers.FloatField(allow_null=True)
    extra_money_in_all = serializers.FloatField(source="money_in_all", allow_null=True)


class OverreachSerializer(serializers.Serializer[Any]):
    """The cost and the data given away of calls to the wrong tool, without `let_be` calls, made in addition to gold.

    `calls` are excess calls, `wrong_calls` those to other wrong tools; what is extra is of both together.
    """

    calls = serializers.IntegerField()
    wrong_calls = serializers.IntegerField()
    let_be = serializers.IntegerField()
    exposing = serializers.IntegerField()
    extra_cost = serializers.FloatField(source="extra", allow_null=True)
    extra_tokens = serializers.FloatField(source="tokens", allow_null=True)
    extra_money = serializers.FloatField(source="money", allow_null=True)
    rows = OverreachRowSerializer(many=True)


class VerdictRowSerializer(serializers.Serializer[Any]):
    """The outcome, a layer or a depth. Unscored and errored are next to the rate."""

    name = serializers.CharField()
    rate = RateSerializer()
    failed = serializers.IntegerField()
    unscored = serializers.IntegerField()
    errored = serializers.IntegerField()
    goal = serializers.FloatField()


class LayerRowSerializer(VerdictRowSerializer):
    """The same of a run; of the outcome, `noise` is where wrong gold could put its rate, else null."""

    noise = serializers.SerializerMethodField()

    @extend_schema_field(IntervalSerializer(allow_null=True))
    def get_noise(self, row: Any) -> Any:
        bounds = self.context["noise"].bounds(row.rate.value) if row.name == "outcome" else None
        return IntervalSerializer(bounds).data if bounds else None


class ModeSerializer(serializers.Serializer[Any]):
    """The number of cases that failed in one way."""

    mode = serializers.CharField()
    layer = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()
    meaning = serializers.CharField()


class TagSerializer(serializers.Serializer[Any]):
    """A failure tag, what it means and what to do; whether its cases are in the scores."""

    tag = serializers.CharField()
    count = serializers.IntegerField()
    scored = serializers.BooleanField(source="words.is_scored")
    meaning = serializers.CharField(source="words.meaning")
    to_do = serializers.CharField(source="words.to_do")


class LayersSerializer(serializers.Serializer[Any]):
    """The layers where cases are lost. `cases` counts all, scored or not; `failure_counts` cases by failure tag."""

    cases = serializers.IntegerField(source="layers.cases")
    sentence = serializers.CharField()
    label_noise = LabelNoiseSerializer()
    corrected = CorrectedScoreSerializer(allow_null=True, help_text="By the newest re-reading; null without any.")
    layers = LayerRowSerializer(source="layers.rows", many=True)
    failure_counts = serializers.DictField(child=serializers.IntegerField())
    failure_tags = TagSerializer(many=True)
    failure_modes = ModeSerializer(many=True)
