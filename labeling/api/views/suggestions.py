"""Show what models suggest as labels."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.services.suggestions import MAX_SUGGESTIONS, SuggestionRow, suggestions_store


class SuggestionSerializer(serializers.Serializer[Any]):
    """One example's external id, and the expectation in the form of `expectation.v1.json`."""

    id = serializers.CharField(max_length=200)
    expectation = serializers.JSONField()


class NewSuggestionsSerializer(serializers.Serializer[Any]):
    """Holds what one source suggests: all of it is stored, or nothing."""

    by = serializers.CharField(max_length=200, help_text="Who suggests it, such as a model and its prompt's version.")
    suggestions = serializers.ListField(child=SuggestionSerializer(), max_length=MAX_SUGGESTIONS)


class StoredSuggestionsSerializer(serializers.Serializer[Any]):
    """Counts the suggestions that were stored."""

    stored = serializers.IntegerField()


class Suggestions(LabelingView):
    """Suggestions for a dataset's examples; reviewers see them only where the project allows it."""

    @extend_schema(request=NewSuggestionsSerializer, responses={201: StoredSuggestionsSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = NewSuggestionsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        source = serializer.validated_data["by"]
        rows = [
            SuggestionRow(row["id"], row["expectation"], source) for row in serializer.validated_data["suggestions"]
        ]
        stored = suggestions_store(dataset=dataset_row, actor=self.user, rows=rows)
        return Response({"stored": stored}, status=HTTPStatus.CREATED)
