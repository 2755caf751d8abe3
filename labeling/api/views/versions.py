"""Frozen versions."""

from __future__ import annotations

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import DatasetVersionSerializer, NewDatasetVersionSerializer
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
    """One version."""

    @extend_schema(responses=DatasetVersionSerializer)
    def get(self, request: Request, dataset: str, number: int) -> Response:
        versions = DatasetVersion.objects.in_project(self.project)
        return Response(
            DatasetVersionSerializer(get_object_or_404(versions, dataset__slug=dataset, number=number)).data
        )
