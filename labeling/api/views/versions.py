"""Frozen versions."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import (
    DatasetVersionSerializer,
    NewDatasetVersionSerializer,
    VersionChangeSerializer,
)
from labeling.models import DatasetVersion


class Versions(LabelingView, ListAPIView[DatasetVersion]):
    """A dataset's versions, newest first; by POST, one of today. If nothing changed, the newest is answered."""

    serializer_class = DatasetVersionSerializer
    queryset = DatasetVersion.objects.none()

    def get_queryset(self) -> QuerySet[DatasetVersion]:
        dataset = self.find_dataset(self.kwargs["dataset"])
        return DatasetVersion.objects.filter(dataset=dataset).select_related("dataset")

    @extend_schema(request=NewDatasetVersionSerializer, responses={201: DatasetVersionSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        found = self.find_dataset(dataset)
        asked = NewDatasetVersionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        version = services.version_freeze(dataset=found, actor=self.user, **asked.validated_data)
        return Response(DatasetVersionSerializer(version).data, status=201)


class VersionDetail(LabelingView):
    """One version; by PATCH, its note and tags, those that are sent."""

    @extend_schema(responses=DatasetVersionSerializer)
    def get(self, request: Request, dataset: str, version: str) -> Response:
        return Response(DatasetVersionSerializer(self.find_version(dataset, version)).data)

    @extend_schema(request=VersionChangeSerializer, responses=DatasetVersionSerializer)
    def patch(self, request: Request, dataset: str, version: str) -> Response:
        found = self.find_version(dataset, version)
        asked = VersionChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        changed = services.version_describe(version=found, actor=self.user, **asked.validated_data)
        return Response(DatasetVersionSerializer(changed).data)
