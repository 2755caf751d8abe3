"""Describe gold, disputes and adjudication in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.models import Adjudication, Dispute, Feedback, Gold, LabelAnswer, Revision


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """An expectation that is or was in force."""

    expectation = serializers.JSONField()
    after_agents = serializers.ListField(
        child=serializers.CharField(), source="agents_seen", help_text="Agents whose proposals it rests on."
    )

    class Meta:
        model = Gold
        fields = ("id", "revision", "expectation", "rationale", "source", "after_agents", "created_at")


class GoldHistorySerializer(GoldSerializer):
    """The same with who decided; null is the system, or two who agreed."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    in_force = serializers.BooleanField()

    class Meta(GoldSerializer.Meta):
        fields = (*GoldSerializer.Meta.fields, "actor", "in_force")  # type: ignore[assignment]


class DisputeSerializer(serializers.ModelSerializer[Dispute]):
    """Someone's, or an import's, doubt."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = Dispute
        fields = ("id", "revision", "actor", "reason", "expectation", "created_at", "settled_at")


class NewDisputeSerializer(serializers.Serializer[Any]):
    """The reason why the gold is wrong, and the right expectation where it is known."""

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


class FirstLabelSerializer(serializers.Serializer[Any]):
    """A label as one person first submitted it, without their name."""

    answer = serializers.CharField()
    expectation = serializers.JSONField(allow_null=True)
    rationale = serializers.CharField()


class SideSerializer(FirstLabelSerializer):
    """A label without its author, when it was made or how long it took."""

    flagged = serializers.BooleanField()
    first = FirstLabelSerializer(
        allow_null=True, help_text="What was said first, where that was changed; null otherwise."
    )


class ComparisonSerializer(serializers.Serializer[Any]):
    """A decision to make: labels side by side, reasons of skips, the gold in force, its disputes."""

    revision = ToAdjudicateSerializer()
    input = serializers.JSONField(source="revision.input")
    sides = SideSerializer(many=True)
    skips = serializers.ListField(child=serializers.CharField())
    gold = GoldSerializer(source="revision.gold", allow_null=True)
    disputes = DisputeSerializer(many=True)


class DecisionSerializer(serializers.Serializer[Any]):
    """An adjudicator's decision."""

    expectation = serializers.JSONField()
    rationale = serializers.CharField(allow_blank=True)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


WITHOUT_GOLD = [LabelAnswer.AMBIGUOUS.value, LabelAnswer.MISSING_TOOL.value]


class SetAsideSerializer(serializers.Serializer[Any]):
    """The reason why there is no gold, on purpose."""

    answer = serializers.ChoiceField(choices=WITHOUT_GOLD)
    rationale = serializers.CharField(allow_blank=True)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


class AdjudicationSerializer(serializers.ModelSerializer[Adjudication]):
    """A decision that was made; `gold` is what it put in force, null where it set the example aside."""

    expectation = serializers.JSONField(allow_null=True)
    gold = serializers.SerializerMethodField()

    class Meta:
        model = Adjudication
        fields = (
            "id",
            "revision",
            "answer",
            "expectation",
            "rationale",
            "seconds",
            "gold",
            "created_at",
            "withdrawn_at",
        )

    @extend_schema_field({"type": ["string", "null"], "format": "uuid"})
    def get_gold(self, adjudication: Adjudication) -> str | None:
        pk = Gold.objects.filter(adjudication=adjudication).values_list("pk", flat=True).first()
        return str(pk) if pk else None


class ReasonSerializer(serializers.Serializer[Any]):
    """The reason for an action."""

    reason = serializers.CharField(max_length=4000)


class FeedbackSerializer(serializers.ModelSerializer[Feedback]):
    """The decision about one's own label."""

    example = serializers.UUIDField(source="label.revision.example_id")
    external_id = serializers.CharField(source="label.revision.example.external_id")
    answer = serializers.SerializerMethodField()
    expectation = serializers.JSONField(source="gold.expectation", default=None, allow_null=True)
    rationale = serializers.SerializerMethodField()

    class Meta:
        model = Feedback
        fields = (
            "id",
            "label",
            "example",
            "external_id",
            "differs",
            "answer",
            "expectation",
            "rationale",
            "seen_at",
            "created_at",
        )

    def get_answer(self, feedback: Feedback) -> str:
        return LabelAnswer.EXPECTATION.value if feedback.gold_id else feedback.label.revision.set_aside_as

    def get_rationale(self, feedback: Feedback) -> str:
        said = feedback.gold or feedback.adjudication
        return said.rationale if said else ""
