"""Show what programs send to bring examples in and take them out."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.api.serializers.datasets import VersionNameField
from labeling.exports import FORMATS
from labeling.imports.detection import AUTO
from labeling.imports.formats import SOURCES
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

SOURCE_NAMES = [AUTO, *SOURCES]
FORMAT_NAMES = list(FORMATS)


class NewImportSerializer(serializers.Serializer[Any]):
    """A file of examples."""

    file = serializers.FileField()
    # A field's own `source` is another thing; declared fields are not attributes.
    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=SOURCE_NAMES, required=False, help_text="By default jsonl; auto finds it by what the file holds."
    )
    format = serializers.ChoiceField(choices=SOURCE_NAMES, required=False, help_text="Another name of source.")
    options = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="The format's options, a JSON object."
    )

    def validate_options(self, value: str) -> dict[str, Any]:
        if not value:
            return {}
        try:
            options = load_json(value)
        except InvalidDocument as error:
            raise serializers.ValidationError(str(error)) from None
        if not isinstance(options, dict):
            raise serializers.ValidationError("Must be a JSON object.")
        return options

    def chosen_source(self) -> str:
        """Return the format that is meant; the data is valid."""
        data = self.validated_data
        return str(data.get("source") or data.get("format") or "jsonl")

    def chosen_options(self) -> dict[str, Any]:
        """Return the format's options; the data is valid."""
        options: dict[str, Any] = self.validated_data["options"]
        return options


class NewExportSerializer(serializers.Serializer[Any]):
    """What to write."""

    format = serializers.ChoiceField(choices=FORMAT_NAMES, default="jsonl")
    version = VersionNameField(required=False, allow_null=True, default=None)
