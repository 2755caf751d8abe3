"""Serve the datasheet of a dataset or of one of its versions by REST."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.adjudicate.resolution import settle_due
from labeling.api.base import LabelingView
from labeling.datasheet.gathering import datasheet_of
from labeling.models import Dataset, DatasetVersion
from labeling.versions.models import NOW


class DatasheetDetail(LabelingView):
    """Counts, sources, labelling, agreement and known limits of a version; `now` is what the dataset holds now.

    Of labels and disputes those of what is resolved are counted. What no one has recorded is null or empty.
    """

    @extend_schema(responses={200: {"type": "object", "additionalProperties": True}})
    def get(self, request: Request, dataset: str, version: str) -> Response:
        found, frozen = self._asked(dataset, version)
        return Response(datasheet_of(found, frozen).to_document())

    def _asked(self, dataset: str, version: str) -> tuple[Dataset, DatasetVersion | None]:
        if version == NOW:
            settle_due(project=self.project)
            return self.find_dataset(dataset), None
        frozen = self.find_version(dataset, version)
        return frozen.dataset, frozen
