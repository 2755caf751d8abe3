"""Describe the queue in JSON: settings of labelling, a dataset's order, batches, and kept work."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.forms.queue import MAX_NAMES, MAX_SEED, MAX_UNDO_SECONDS, reviewers_of
from labeling.models import Dataset, Example, LabelBatch, QueueOrder
from labeling.services import Choice
from labeling.services.batches import MAX_EXAMPLES
from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.models import Project, User


class LabellingSerializer(serializers.ModelSerializer[Project]):
    """How a project labels. `labels_share`: the share of examples that get so many labels; the others get one."""

    labels_wanted = serializers.IntegerField(min_value=1, max_value=5)
    labels_share = serializers.FloatField(min_value=0, max_value=1)
    undo_seconds = serializers.IntegerField(min_value=0, max_value=MAX_UNDO_SECONDS)
    decide_own = serializers.BooleanField()
    suggestions = serializers.BooleanField()

    class Meta:
        model = Project
        fields = ("labels_wanted", "labels_share", "undo_seconds", "decide_own", "suggestions")


class LabellingJobSerializer(LabellingSerializer):
    """The same, with the job that brings open examples to another number; null where there is nothing to do."""

    job = serializers.UUIDField(allow_null=True)

    class Meta(LabellingSerializer.Meta):
        fields = (*LabellingSerializer.Meta.fields, "job")  # type: ignore[assignment]


class OrderSerializer(serializers.Serializer[Dataset]):
    """In which order a dataset's examples are labelled; what was reopened always comes first."""

    order = serializers.ChoiceField(choices=QueueOrder.choices)
    seed = serializers.IntegerField(source="order_seed", min_value=0, max_value=MAX_SEED, default=0)


class OrderJobSerializer(OrderSerializer):
    """The same, with the job that writes it; null where it is done."""

    job = serializers.UUIDField(allow_null=True, read_only=True)


@extend_schema_field({"type": "string", "format": "uuid"})
class ReviewerField(serializers.PrimaryKeyRelatedField[User]):
    """A person who may label in the request's project, by id."""

    def get_queryset(self) -> Any:
        return reviewers_of(self.context["project"])


class ChoiceSerializer(serializers.Serializer[Any]):
    """Which examples: of these strata, of these external ids (all where none is named), the first so many in turn."""

    strata = serializers.DictField(child=serializers.CharField(max_length=60), default=dict)
    external_ids = serializers.ListField(
        child=serializers.CharField(max_length=200), max_length=MAX_NAMES, default=list
    )
    first = serializers.IntegerField(min_value=1, max_value=MAX_EXAMPLES, default=MAX_EXAMPLES)

    def validate_strata(self, strata: dict[str, str]) -> dict[str, str]:
        unknown = sorted(set(strata) - set(Example.STRATA))
        if unknown:
            raise serializers.ValidationError(f"Strata are {', '.join(Example.STRATA)}; not {', '.join(unknown)}.")
        return strata

    @property
    def choice(self) -> Choice:
        """The valid data's choice."""
        data = self.validated_data
        return Choice(strata=data["strata"], names=data["external_ids"], first=data["first"])


class BatchChangeSerializer(serializers.Serializer[Any]):
    """What is said about a batch."""

    name = serializers.CharField(max_length=120)
    owner = ReviewerField(allow_null=True, default=None)
    due_on = serializers.DateField(allow_null=True, default=None)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class NewBatchSerializer(ChoiceSerializer, BatchChangeSerializer):
    """What batch to make, and of which examples: none of them may be in another."""

    @property
    def said(self) -> dict[str, Any]:
        """What is said about the batch."""
        return {name: self.validated_data[name] for name in ("name", "owner", "due_on", "note")}


class BatchSerializer(serializers.ModelSerializer[LabelBatch]):
    """A part of the work: how many labels it wants and has, and the hours that people spent on it."""

    owner = UserSerializer(allow_null=True)
    examples = serializers.IntegerField()
    wanted = serializers.IntegerField()
    labels = serializers.IntegerField()
    kept = serializers.IntegerField()
    hours = serializers.FloatField()
    label_hours = serializers.FloatField()
    adjudication_hours = serializers.FloatField()

    class Meta:
        model = LabelBatch
        fields = (
            "id",
            "name",
            "owner",
            "due_on",
            "note",
            "examples",
            "wanted",
            "labels",
            "kept",
            "hours",
            "label_hours",
            "adjudication_hours",
            "created_at",
            "closed_at",
        )


class AssignmentSerializer(ChoiceSerializer):
    """For whom examples are kept: one place of each; `batch` limits them to one."""

    person = ReviewerField()
    batch = serializers.UUIDField(allow_null=True, default=None)


class AssignedSerializer(serializers.Serializer[Any]):
    """How many places are kept, or are so no more."""

    examples = serializers.IntegerField()
