"""Serve the queue by REST: settings of labelling, a dataset's order, batches, and kept work."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.queue import (
    AssignedSerializer,
    AssignmentSerializer,
    BatchChangeSerializer,
    BatchSerializer,
    LabellingJobSerializer,
    LabellingSerializer,
    NewBatchSerializer,
    OrderJobSerializer,
    OrderSerializer,
)
from labeling.models import Dataset, LabelBatch
from toolevals.workspace.api.schema import HAS_BODY
from toolevals.workspace.models import Job


class Labelling(LabelingView):
    """How the project labels; by PUT, by owners, otherwise. Open examples follow in a job."""

    @extend_schema(responses=LabellingSerializer)
    def get(self, request: Request) -> Response:
        return Response(LabellingSerializer(self.project).data)

    @extend_schema(request=LabellingSerializer, responses=LabellingJobSerializer)
    def put(self, request: Request) -> Response:
        serializer = LabellingSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        job = services.labelling_set(project=self.project, actor=self.user, **serializer.validated_data)
        return Response(LabellingSerializer(self.project).data | _job(job))


class Queue(LabelingView):
    """The order of a dataset's queue; by PUT, another."""

    @extend_schema(responses=OrderSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return Response(OrderSerializer(self.find_dataset(dataset)).data)

    @extend_schema(request=OrderSerializer, responses=OrderJobSerializer)
    def put(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = OrderSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        job = services.order_set(dataset=dataset_row, actor=self.user, order=data["order"], seed=data["order_seed"])
        return Response(OrderSerializer(dataset_row).data | _job(job))


class Batches(LabelingView, ListAPIView[LabelBatch]):
    """A dataset's batches, newest first; by POST, a new one of examples that are in none."""

    serializer_class = BatchSerializer
    queryset = LabelBatch.objects.none()

    def get_queryset(self) -> QuerySet[LabelBatch]:
        return self.find_dataset(self.kwargs["dataset"]).batches.with_progress().select_related("owner")

    @extend_schema(request=NewBatchSerializer, responses={201: BatchSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = NewBatchSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        said = serializer.said
        if dataset_row.batches.filter(name=said["name"].strip()).exists():
            raise serializers.ValidationError({"name": ["There is a batch of this name."]})
        batch = services.batch_create(dataset=dataset_row, actor=self.user, choice=serializer.choice, **said)
        return Response(BatchSerializer(_batch(dataset_row, batch.pk)).data, status=HTTPStatus.CREATED)


class Batch(LabelingView):
    """One batch; by PUT, what is said about it; by DELETE, closed: what still wants labels is in no batch again."""

    @extend_schema(responses=BatchSerializer)
    def get(self, request: Request, dataset: str, batch: UUID) -> Response:
        return Response(BatchSerializer(_batch(self.find_dataset(dataset), batch)).data)

    @extend_schema(request=BatchChangeSerializer, responses=BatchSerializer)
    def put(self, request: Request, dataset: str, batch: UUID) -> Response:
        dataset_row = _batch(self.find_dataset(dataset), batch)
        serializer = BatchChangeSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        services.batch_update(batch=dataset_row, actor=self.user, **serializer.validated_data)
        return Response(BatchSerializer(dataset_row).data)

    @extend_schema(responses={200: BatchSerializer})
    def delete(self, request: Request, dataset: str, batch: UUID) -> Response:
        dataset_row = self.find_dataset(dataset)
        services.batch_close(batch=_batch(dataset_row, batch), actor=self.user)
        return Response(BatchSerializer(_batch(dataset_row, batch)).data)


class Assignments(LabelingView):
    """Keep one place of each chosen example for a person; by DELETE, no more."""

    @extend_schema(request=AssignmentSerializer, responses=AssignedSerializer)
    def post(self, request: Request, dataset: str) -> Response:
        return self._act(services.slots_assign, request, dataset)

    @extend_schema(request=AssignmentSerializer, responses={200: AssignedSerializer}, extensions={HAS_BODY: True})
    def delete(self, request: Request, dataset: str) -> Response:
        return self._act(services.slots_unassign, request, dataset)

    def _act(self, act: Any, request: Request, slug: str) -> Response:
        dataset = self.find_dataset(slug)
        serializer = AssignmentSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        batch = _batch(dataset, data["batch"]) if data["batch"] else None
        count = act(dataset=dataset, actor=self.user, person=data["person"], choice=serializer.choice, batch=batch)
        return Response({"examples": count})


def _batch(dataset: Dataset, pk: UUID) -> LabelBatch:
    rows = dataset.batches.with_progress().select_related("owner", "dataset__project")
    return get_object_or_404(rows, pk=pk)


def _job(job: Job | None) -> dict[str, Any]:
    return {"job": str(job.pk) if job else None}
