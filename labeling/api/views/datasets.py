"""Serve datasets by REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import (
    DatasetChangeSerializer,
    DatasetSerializer,
    NewDatasetSerializer,
    ShownStrataSerializer,
)
from labeling.coverage.cache import datasets_counted
from labeling.models import Dataset
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import User
from toolevals.workspace.trash.api import TrashedSerializer, deleted_answer


class Datasets(LabelingView, ListAPIView[Dataset]):
    """The project's datasets; by POST, a new one."""

    serializer_class = DatasetSerializer
    queryset = Dataset.objects.none()

    def get_queryset(self) -> QuerySet[Dataset]:
        return Dataset.objects.in_project(self.project)

    def paginate_queryset(self, queryset: Any) -> Any:
        return datasets_counted(super().paginate_queryset(queryset) or [], actor=self.user)

    @extend_schema(request=NewDatasetSerializer, responses={201: DatasetSerializer})
    def post(self, request: Request) -> Response:
        serializer = NewDatasetSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        dataset = services.dataset_create(project=self.project, actor=self.user, **serializer.validated_data)
        return Response(_shown(dataset, self.user), status=201)


class DatasetDetail(LabelingView):
    """One dataset; by PUT, what is said about it; by DELETE, by owners, to the trash."""

    @extend_schema(responses=DatasetSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return self._show(self.find_dataset(dataset))

    @extend_schema(request=DatasetChangeSerializer, responses=DatasetSerializer)
    def put(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = DatasetChangeSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        services.dataset_update(dataset=dataset_row, actor=self.user, **serializer.validated_data)
        return self._show(dataset_row)

    @extend_schema(responses={200: TrashedSerializer})
    @idempotent
    def delete(self, request: Request, dataset: str) -> Response:
        return deleted_answer(self.find_dataset(dataset), self.user)

    def _show(self, dataset: Dataset) -> Response:
        return Response(_shown(dataset, self.user))


class ShownStrata(LabelingView):
    """The strata that reviewers see, besides the safe ones, of what is still to label; by PUT, by owners, others."""

    @extend_schema(responses=ShownStrataSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return self._show(self.find_dataset(dataset))

    @extend_schema(request=ShownStrataSerializer, responses=ShownStrataSerializer)
    def put(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = ShownStrataSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return self._show(services.strata_show(dataset=dataset_row, actor=self.user, **serializer.validated_data))

    def _show(self, dataset: Dataset) -> Response:
        return Response({"strata": dataset.shown_strata})


def _shown(dataset: Dataset, user: User) -> Any:
    return DatasetSerializer(datasets_counted([dataset], actor=user)[0]).data
