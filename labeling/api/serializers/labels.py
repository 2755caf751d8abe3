"""Describe claims and labels in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.models import Draft, Label, LabelAnswer, LabelSlot, Skip, SpareLabel
from toolevals.registry.tool_lists import tools_in


class ClaimSerializer(serializers.ModelSerializer[LabelSlot]):
    """A slot that one holds, with what is to be labelled."""

    dataset = serializers.CharField(source="dataset.slug")
    example = serializers.UUIDField(source="revision.example_id")
    external_id = serializers.CharField(source="revision.example.external_id")
    guideline = serializers.CharField(source="dataset.guideline")
    input = serializers.JSONField(source="revision.input")
    tools = serializers.SerializerMethodField()

    class Meta:
        model = LabelSlot
        fields = (
            "id",
            "dataset",
            "example",
            "external_id",
            "revision",
            "claimed_at",
            "lease_until",
            "guideline",
            "input",
            "tools",
        )

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_tools(self, slot: LabelSlot) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(slot.revision.tools)]


class NewClaimSerializer(serializers.Serializer[Any]):
    """The place to claim from: one batch, one dataset, or the whole project."""

    dataset = serializers.SlugField(default=None, allow_null=True)
    batch = serializers.UUIDField(default=None, allow_null=True)


class NewLabelSerializer(serializers.Serializer[Any]):
    """A label: the expectation in the form of `expectation.v1.json`, or an answer that says why there is none."""

    answer = serializers.ChoiceField(choices=LabelAnswer.choices, default=LabelAnswer.EXPECTATION)
    expectation = serializers.JSONField(default=None, allow_null=True)
    rationale = serializers.CharField(allow_blank=True, default="")
    flagged = serializers.BooleanField(default=False)
    seconds = serializers.FloatField(default=0, min_value=0, max_value=86_400)


class LabelSerializer(serializers.ModelSerializer[Label]):
    """A label that may be seen with its author: one's own, or anyone's of an example that is resolved."""

    expectation = serializers.JSONField(allow_null=True)
    round = serializers.IntegerField(source="slot.round")
    reviewer = serializers.CharField(source="reviewer.name", default=None, allow_null=True)
    example = serializers.UUIDField(source="revision.example_id")

    class Meta:
        model = Label
        fields = (
            "id",
            "example",
            "revision",
            "round",
            "reviewer",
            "answer",
            "expectation",
            "rationale",
            "flagged",
            "guideline",
            "is_first",
            "seconds",
            "created_at",
            "withdrawn_at",
        )


class SpareLabelSerializer(serializers.ModelSerializer[SpareLabel]):
    """A label that came when no place was left for it; it counts in no figure."""

    expectation = serializers.JSONField(allow_null=True)
    reviewer = serializers.CharField(source="reviewer.name", default=None, allow_null=True)
    example = serializers.UUIDField(source="revision.example_id")

    class Meta:
        model = SpareLabel
        fields = (
            "id",
            "example",
            "revision",
            "round",
            "reviewer",
            "answer",
            "expectation",
            "rationale",
            "flagged",
            "guideline",
            "seconds",
            "created_at",
        )


class NewSkipSerializer(serializers.Serializer[Any]):
    """The reason why an example is passed on."""

    reason = serializers.CharField(max_length=300, allow_blank=True, default="")


class SkipSerializer(serializers.ModelSerializer[Skip]):
    """An example that one has passed on."""

    class Meta:
        model = Skip
        fields = ("id", "revision", "reason", "created_at", "undone_at")


class DraftSerializer(serializers.ModelSerializer[Draft]):
    """The part of a label that is entered and not submitted."""

    document = serializers.JSONField()

    class Meta:
        model = Draft
        fields = ("document", "saved_at")
        read_only_fields = ("saved_at",)
