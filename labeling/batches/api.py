"""Serve the queue by REST: settings of labelling, a dataset's order, batches, and kept work."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.batches.forms import MAX_NAMES, MAX_SEED, MAX_UNDO_SECONDS, reviewers_of
from labeling.batches.ordering import order_set
from labeling.batches.overlap import labelling_set
from labeling.batches.services import (
    MAX_EXAMPLES,
    Choice,
    batch_close,
    batch_create,
    batch_update,
    slots_assign,
    slots_unassign,
)
from labeling.models import Dataset, Example, LabelBatch, QueueOrder
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.schema import HAS_BODY
from toolevals.workspace.api.serializers import UserSerializer
from toolevals.workspace.models import Job, Project, User


class LabellingSerializer(serializers.ModelSerializer[Project]):
    """Says how a project labels. `labels_share`: the share of examples that get so many labels; the others get one."""

    labels_wanted = serializers.IntegerField(min_value=1, max_value=5)
    labels_share = serializers.FloatField(min_value=0, max_value=1)
    undo_seconds = serializers.IntegerField(min_value=0, max_value=MAX_UNDO_SECONDS)
    decide_own = serializers.BooleanField()
    suggestions = serializers.BooleanField()

    class Meta:
        model = Project
        fields = ("labels_wanted", "labels_share", "undo_seconds", "decide_own", "suggestions")


class LabellingJobSerializer(LabellingSerializer):
    """The same, with the job that brings open examples to another number; null where there is nothing to do."""

    job = serializers.UUIDField(allow_null=True)

    class Meta(LabellingSerializer.Meta):
        fields = (*LabellingSerializer.Meta.fields, "job")  # type: ignore[assignment]


class OrderSerializer(serializers.Serializer[Dataset]):
    """In which order a dataset's examples are labelled; what was reopened always comes first."""

    order = serializers.ChoiceField(choices=QueueOrder.choices)
    seed = serializers.IntegerField(source="order_seed", min_value=0, max_value=MAX_SEED, default=0)


class OrderJobSerializer(OrderSerializer):
    """The same, with the job that writes it; null where it is done."""

    job = serializers.UUIDField(allow_null=True, read_only=True)


@extend_schema_field({"type": "string", "format": "uuid"})
class ReviewerField(serializers.PrimaryKeyRelatedField[User]):
    """A person who may label in the request's project, by id."""

    def get_queryset(self) -> Any:
        return reviewers_of(self.context["project"])


class ChoiceSerializer(PlainSerializer):
    """Chooses examples: of these strata, of these external ids (all where none is named), the first so many in turn."""

    strata = serializers.DictField(child=serializers.CharField(max_length=60), default=dict)
    external_ids = serializers.ListField(
        child=serializers.CharField(max_length=200), max_length=MAX_NAMES, default=list
    )
    first = serializers.IntegerField(min_value=1, max_value=MAX_EXAMPLES, default=MAX_EXAMPLES)

    def validate_strata(self, strata: dict[str, str]) -> dict[str, str]:
        unknown = sorted(set(strata) - set(Example.STRATA))
        if unknown:
            raise serializers.ValidationError(f"Strata are {', '.join(Example.STRATA)}; not {', '.join(unknown)}.")
        return strata

    @property
    def choice(self) -> Choice:
        """The valid data's choice."""
        data = self.validated_data
        return Choice(strata=data["strata"], names=data["external_ids"], first=data["first"])


class BatchChangeSerializer(PlainSerializer):
    """Holds what is said about a batch."""

    name = serializers.CharField(max_length=120)
    owner = ReviewerField(allow_null=True, default=None)
    due_on = serializers.DateField(allow_null=True, default=None)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class NewBatchSerializer(ChoiceSerializer, BatchChangeSerializer):
    """Says which batch to make, and of which examples: none of them may be in another."""

    @property
    def said(self) -> dict[str, Any]:
        """Return what is said about the batch."""
        return {name: self.validated_data[name] for name in ("name", "owner", "due_on", "note")}


class BatchSerializer(serializers.ModelSerializer[LabelBatch]):
    """A part of the work: how many labels it wants and has, and the hours that people spent on it."""

    owner = UserSerializer(allow_null=True)
    examples = serializers.IntegerField()
    wanted = serializers.IntegerField()
    labels = serializers.IntegerField()
    kept = serializers.IntegerField()
    hours = serializers.FloatField()
    label_hours = serializers.FloatField()
    adjudication_hours = serializers.FloatField()

    class Meta:
        model = LabelBatch
        fields = (
            "id",
            "name",
            "owner",
            "due_on",
            "note",
            "examples",
            "wanted",
            "labels",
            "kept",
            "hours",
            "label_hours",
            "adjudication_hours",
            "created_at",
            "closed_at",
        )


class AssignmentSerializer(ChoiceSerializer):
    """For whom examples are kept: one place of each; `batch` limits them to one."""

    person = ReviewerField()
    batch = serializers.UUIDField(allow_null=True, default=None)


class DueAssignmentSerializer(AssignmentSerializer):
    """The same, and until when they should be labelled."""

    due_on = serializers.DateField(allow_null=True, default=None)


class AssignedSerializer(PlainSerializer):
    """Counts the places that are kept, or are so no more."""

    examples = serializers.IntegerField()


class Labelling(LabelingView):
    """The labelling settings of the project; owners change them by PUT. Open examples follow in a job."""

    @extend_schema(responses=LabellingSerializer)
    def get(self, request: Request) -> Response:
        return Response(LabellingSerializer(self.project).data)

    @extend_schema(request=LabellingSerializer, responses=LabellingJobSerializer)
    def put(self, request: Request) -> Response:
        serializer = LabellingSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        job = labelling_set(project=self.project, actor=self.user, **serializer.validated_data)
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
        job = order_set(dataset=dataset_row, actor=self.user, order=data["order"], seed=data["order_seed"])
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
            raise serializers.ValidationError({"name": ["A batch with this name already exists."]})
        batch = batch_create(dataset=dataset_row, actor=self.user, choice=serializer.choice, **said)
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
        batch_update(batch=dataset_row, actor=self.user, **serializer.validated_data)
        return Response(BatchSerializer(dataset_row).data)

    @extend_schema(responses={200: BatchSerializer})
    def delete(self, request: Request, dataset: str, batch: UUID) -> Response:
        dataset_row = self.find_dataset(dataset)
        batch_close(batch=_batch(dataset_row, batch), actor=self.user)
        return Response(BatchSerializer(_batch(dataset_row, batch)).data)


class Assignments(LabelingView):
    """Keep one place of each chosen example for a person; by DELETE, no more."""

    @extend_schema(request=DueAssignmentSerializer, responses=AssignedSerializer)
    def post(self, request: Request, dataset: str) -> Response:
        return self._act(slots_assign, DueAssignmentSerializer, request, dataset)

    @extend_schema(request=AssignmentSerializer, responses={200: AssignedSerializer}, extensions={HAS_BODY: True})
    def delete(self, request: Request, dataset: str) -> Response:
        return self._act(slots_unassign, AssignmentSerializer, request, dataset)

    def _act(self, act: Any, asks: type[AssignmentSerializer], request: Request, slug: str) -> Response:
        dataset = self.find_dataset(slug)
        serializer = asks(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        batch = _batch(dataset, data["batch"]) if data["batch"] else None
        said = {name: data[name] for name in ("person", "due_on") if name in data}
        count = act(dataset=dataset, actor=self.user, choice=serializer.choice, batch=batch, **said)
        return Response({"examples": count})


def _batch(dataset: Dataset, pk: UUID) -> LabelBatch:
    rows = dataset.batches.with_progress().select_related("owner", "dataset__project")
    return get_object_or_404(rows, pk=pk)


def _job(job: Job | None) -> dict[str, Any]:
    return {"job": str(job.pk) if job else None}
