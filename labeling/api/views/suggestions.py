"""Show what models suggest as labels."""

from __future__ import annotations

from http import HTTPStatus

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.suggestions import NewSuggestionsSerializer, StoredSuggestionsSerializer
from labeling.services import SuggestionRow


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
        stored = services.suggestions_store(dataset=dataset_row, actor=self.user, rows=rows)
        return Response({"stored": stored}, status=HTTPStatus.CREATED)
