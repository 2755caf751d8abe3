"""Show what models suggest as labels."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.services.suggestions import MAX_SUGGESTIONS


class SuggestionSerializer(serializers.Serializer[Any]):
    """One example's external id, and the expectation in the form of `expectation.v1.json`."""

    id = serializers.CharField(max_length=200)
    expectation = serializers.JSONField()


class NewSuggestionsSerializer(serializers.Serializer[Any]):
    """What one source suggests: all of it is stored, or nothing."""

    by = serializers.CharField(max_length=200, help_text="Who suggests it, such as a model and its prompt's version.")
    suggestions = serializers.ListField(child=SuggestionSerializer(), max_length=MAX_SUGGESTIONS)


class StoredSuggestionsSerializer(serializers.Serializer[Any]):
    """How many suggestions were stored."""

    stored = serializers.IntegerField()
