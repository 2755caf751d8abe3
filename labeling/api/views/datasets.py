"""Datasets."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import DatasetChangeSerializer, DatasetSerializer, NewDatasetSerializer
from labeling.models import Dataset


class Datasets(LabelingView, ListAPIView[Dataset]):
    """The project's datasets; by POST, a new one."""

    serializer_class = DatasetSerializer
    queryset = Dataset.objects.none()

    def get_queryset(self) -> QuerySet[Dataset]:
        return Dataset.objects.in_project(self.project).with_counts()

    @extend_schema(request=NewDatasetSerializer, responses={201: DatasetSerializer})
    def post(self, request: Request) -> Response:
        asked = NewDatasetSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        made = services.dataset_create(project=self.project, actor=self.user, **asked.validated_data)
        return Response(DatasetSerializer(Dataset.objects.with_counts().get(pk=made.pk)).data, status=201)


class DatasetDetail(LabelingView):
    """One dataset; by PUT, what is said about it."""

    @extend_schema(responses=DatasetSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return self._show(self.find_dataset(dataset))

    @extend_schema(request=DatasetChangeSerializer, responses=DatasetSerializer)
    def put(self, request: Request, dataset: str) -> Response:
        found = self.find_dataset(dataset)
        asked = DatasetChangeSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        services.dataset_update(dataset=found, actor=self.user, **asked.validated_data)
        return self._show(found)

    def _show(self, dataset: Dataset) -> Response:
        return Response(
            DatasetSerializer(Dataset.objects.in_project(self.project).with_counts().get(pk=dataset.pk)).data
        )
