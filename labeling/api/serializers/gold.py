"""Gold, disputes and adjudication."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.models import Dispute, Gold, Revision


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """An expectation that is or was in force."""

    expectation = serializers.JSONField()

    class Meta:
        model = Gold
        fields = ("id", "revision", "expectation", "rationale", "source", "created_at")


class GoldHistorySerializer(GoldSerializer):
    """The same with who decided; null is the system, or two who agreed."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    in_force = serializers.BooleanField()

    class Meta(GoldSerializer.Meta):
        fields = (*GoldSerializer.Meta.fields, "actor", "in_force")  # type: ignore[assignment]


class DisputeSerializer(serializers.ModelSerializer[Dispute]):
    """Somebody's, or an import's, doubt."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = Dispute
        fields = ("id", "revision", "actor", "reason", "expectation", "created_at", "settled_at")


class NewDisputeSerializer(serializers.Serializer[Any]):
    """Why the gold is wrong, and what it should be where that is known."""

    reason = serializers.CharField()
    expectation = serializers.JSONField(default=None, allow_null=True)


class ToAdjudicateSerializer(serializers.ModelSerializer[Revision]):
    """A revision that waits for a decision."""

    example = serializers.UUIDField(source="example_id")
    external_id = serializers.CharField(source="example.external_id")
    dataset = serializers.CharField(source="example.dataset.slug")

    class Meta:
        model = Revision
        fields = ("id", "example", "external_id", "dataset", "resolution")


class SideSerializer(serializers.Serializer[Any]):
    """A label without its author."""

    expectation = serializers.JSONField()
    rationale = serializers.CharField()
    flagged = serializers.BooleanField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """What an adjudicator decides on: the labels side by side, the gold in force, the disputes about it."""

    revision = ToAdjudicateSerializer()
    input = serializers.JSONField(source="revision.input")
    sides = SideSerializer(many=True)
    gold = GoldSerializer(source="revision.gold", allow_null=True)
    disputes = DisputeSerializer(many=True)


class DecisionSerializer(serializers.Serializer[Any]):
    """An adjudicator's decision."""

    expectation = serializers.JSONField()
    rationale = serializers.CharField(allow_blank=True)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)
