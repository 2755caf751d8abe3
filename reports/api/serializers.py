"""Show what analyses look like in JSON: shares are 0..1, with every digit."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from reports.tables.run import LAYERS
from toolevals.grading.engine.case_findings import FAMILIES
from toolevals.presentation.table import RATE
from toolevals.runs.api.reread_scores import CorrectedScoreSerializer
from toolevals.runs.api.serializers import LabelNoiseSerializer
from toolevals.workspace.tables import serializer_of

RateSerializer = serializer_of(RATE)


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

    cases = serializers.IntegerField()
    sentence = serializers.CharField()
    label_noise = LabelNoiseSerializer()
    corrected = CorrectedScoreSerializer(allow_null=True, help_text="By the newest re-reading; null without any.")
    layers = serializer_of(LAYERS)(many=True)
    failure_counts = serializers.DictField(child=serializers.IntegerField())
    failure_tags = TagSerializer(many=True)
    failure_modes = ModeSerializer(many=True)
