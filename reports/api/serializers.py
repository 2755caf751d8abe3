"""Show what analyses look like in JSON: shares are 0..1, with every digit."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from reports.tables.run import LAYERS
from toolevals.presentation.table import RATE
from toolevals.runs.runs.serializers import CorrectedScoreSerializer, LabelNoiseSerializer
from toolevals.workspace.tables import serializer_of

RateSerializer = serializer_of(RATE)


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
