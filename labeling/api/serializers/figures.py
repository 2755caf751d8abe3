"""Describe a figure with its interval in JSON."""

from __future__ import annotations

from rest_framework import serializers

from toolevals.grading.metrics.estimates import Estimate
from toolevals.workspace.api.serializers import IntervalSerializer


class FigureSerializer(serializers.Serializer[Estimate]):
    """A figure of `count` units; `value` is null where it is undefined, and then `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    count = serializers.IntegerField()
    reason = serializers.CharField()
