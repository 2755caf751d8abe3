"""Describe datasets, their versions, and their examples in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.api.serializers.gold import GoldSerializer
from labeling.models import Dataset, DatasetVersion, Example
from labeling.queue.shown_strata import strata_shown, tells_what_decides
from labeling.versions.models import TAG_RULE
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import PARTS, read_decided_by
from toolevals.registry.models import RegistryVersion
from toolevals.registry.tool_lists import tools_in


class DecidedByField(serializers.CharField):
    """The parts that decide a case: `expected`, or some of the parts joined by `+`, such as `end_state+answer`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(help_text=f"expected, or some of {', '.join(PARTS)}, joined by +.", **options)

    def to_internal_value(self, data: Any) -> str:
        try:
            return read_decided_by(super().to_internal_value(data))
        except InvalidDocument as error:
            raise serializers.ValidationError([problem.message for problem in error.problems]) from error


OBJECT = {"type": "object"}


class RegistryVersionField(serializers.CharField):
    """A registry version of the request's project by its name: "shop" is the newest one, "shop@3" the third."""

    def to_representation(self, value: Any) -> str:
        return str(value)

    def to_internal_value(self, data: Any) -> Any:
        name = super().to_internal_value(data)
        version = RegistryVersion.objects.named(self.context["project"], name)
        if version is None:
            raise serializers.ValidationError("This project has no registry version of that name.")
        return version


@extend_schema_field({"oneOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]})
class VersionNameField(serializers.CharField):
    """The number or a tag of a frozen version."""


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset: `size` counts its examples, `with_gold` those that have gold.

    Of a large one as counted at `counted_at`, and null before it was counted for the first time; else as of now.
    """

    default_tools = RegistryVersionField(allow_null=True)
    size = serializers.IntegerField(read_only=True, allow_null=True)
    with_gold = serializers.IntegerField(read_only=True, allow_null=True)
    counted_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = Dataset
        fields = (
            "id",
            "slug",
            "name",
            "description",
            "guideline",
            "default_tools",
            "decided_by",
            "size",
            "with_gold",
            "counted_at",
            "created_at",
        )


class DatasetChangeSerializer(serializers.Serializer[Any]):
    """The changeable fields of a dataset."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, default="")
    guideline = serializers.CharField(allow_blank=True, default="")
    default_tools = RegistryVersionField(allow_null=True, default=None)
    decided_by = DecidedByField(required=False)


class NewDatasetSerializer(DatasetChangeSerializer):
    """A dataset to make."""

    slug = serializers.SlugField(max_length=60)


class DecidedBySerializer(serializers.Serializer[Any]):
    """The parts that decide an example; empty for its dataset's default."""

    decided_by = DecidedByField(allow_blank=True)


class DatasetVersionSerializer(serializers.ModelSerializer[DatasetVersion]):
    """A frozen version."""

    name = serializers.CharField(source="__str__")
    tags = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = DatasetVersion
        fields = ("id", "name", "number", "note", "tags", "size", "created_at")


class NewDatasetVersionSerializer(serializers.Serializer[Any]):
    """The description of a new version."""

    note = serializers.CharField(max_length=300, allow_blank=True, default="")
    without_second_looks = serializers.BooleanField(
        default=False, help_text="Leave out gold that rests on what an agent proposed."
    )
    misfits_reason = serializers.CharField(
        max_length=200,
        allow_blank=True,
        default="",
        help_text="Why labels that break their tools' schemas are frozen all the same; without it they are refused.",
    )


class VersionChangeSerializer(serializers.Serializer[Any]):
    """The changeable parts of a version's description."""

    note = serializers.CharField(max_length=300, allow_blank=True, required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False, help_text=TAG_RULE)
    move = serializers.BooleanField(default=False, help_text="Take a tag from the version of the dataset that has it.")


class ShownStrataSerializer(serializers.Serializer[Any]):
    """Names of strata."""

    strata = serializers.ListField(child=serializers.ChoiceField(choices=Example.STRATA))


class VersionChangeRowSerializer(serializers.Serializer[Any]):
    """An example that differs, before and after; null where a version does not hold it."""

    kinds = serializers.ListField(child=serializers.CharField())
    example = serializers.UUIDField(source="entry.revision.example_id")
    external_id = serializers.CharField(source="entry.revision.example.external_id")
    revision_before = serializers.IntegerField(source="before.revision.number", default=None, allow_null=True)
    revision_after = serializers.IntegerField(source="after.revision.number", default=None, allow_null=True)
    gold_before = serializers.UUIDField(source="before.gold_id", default=None, allow_null=True)
    gold_after = serializers.UUIDField(source="after.gold_id", default=None, allow_null=True)
    expected_before = serializers.JSONField(source="before.gold.expectation", default=None, allow_null=True)
    expected_after = serializers.JSONField(source="after.gold.expectation", default=None, allow_null=True)
    decided_by_before = serializers.CharField(source="before.decided_by", default=None, allow_null=True)
    decided_by_after = serializers.CharField(source="after.decided_by", default=None, allow_null=True)


class VersionChangesSerializer(serializers.Serializer[Any]):
    """The changes between two versions; `next` is where the next page begins, null at the end."""

    before = serializers.CharField()
    after = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())
    results = VersionChangeRowSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)


class ExampleSerializer(serializers.ModelSerializer[Example]):
    """An example in a list. `status`: "open" or "resolved"; adjudicators are told "agreed" and "disagreed" too."""

    strata = serializers.SerializerMethodField()
    status = serializers.CharField()
    gold_source = serializers.CharField(source="current.gold.source", default=None, allow_null=True)

    class Meta:
        model = Example
        fields = ("id", "external_id", "strata", "status", "gold_source", "created_at")

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
    def get_strata(self, example: Example) -> dict[str, str]:
        return strata_shown(example, self.context["role"])


class ExampleDetailSerializer(ExampleSerializer):
    """An example with its input, the tools offered, and its gold.

    `decided_by` is what decides it; empty where its dataset's default does, and until it is resolved for reviewers.
    """

    dataset = serializers.CharField(source="dataset.slug")
    revision = serializers.UUIDField(source="current_id")
    revision_number = serializers.IntegerField(source="current.number")
    input = serializers.JSONField(source="current.input")
    tools = serializers.SerializerMethodField()
    gold = GoldSerializer(source="current.gold", allow_null=True)
    decided_by = serializers.SerializerMethodField()

    class Meta(ExampleSerializer.Meta):
        fields = (  # type: ignore[assignment]
            *ExampleSerializer.Meta.fields,
            "dataset",
            "revision",
            "revision_number",
            "input",
            "tools",
            "gold",
            "decided_by",
        )

    def get_decided_by(self, example: Example) -> str:
        return example.decided_by if tells_what_decides(example, self.context["role"]) else ""

    @extend_schema_field({"type": "array", "items": OBJECT})
    def get_tools(self, example: Example) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(example.current.tools)] if example.current else []
