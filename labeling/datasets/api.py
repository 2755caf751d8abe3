"""Serve datasets by REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.coverage.cache import datasets_counted
from labeling.datasets.services import dataset_create, dataset_update, strata_show
from labeling.models import Dataset, Example
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import PARTS, read_decided_by
from toolevals.registry.models import RegistryVersion
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import User
from toolevals.workspace.trash.api import TrashedSerializer, deleted_answer


class DecidedByField(serializers.CharField):
    """The parts that decide a case: `expected`, or some of the parts joined by `+`, such as `end_state+answer`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(help_text=f"expected, or some of {', '.join(PARTS)}, joined by +.", **options)

    def to_internal_value(self, data: Any) -> str:
        try:
            return read_decided_by(super().to_internal_value(data))
        except InvalidDocument as error:
            raise serializers.ValidationError([problem.message for problem in error.problems]) from error


class RegistryVersionField(serializers.CharField):
    """A registry version of the request's project by its name: "shop" is the newest one, "shop@3" the third."""

    def to_representation(self, value: Any) -> str:
        return str(value)

    def to_internal_value(self, data: Any) -> Any:
        name = super().to_internal_value(data)
        version = RegistryVersion.objects.named(self.context["project"], name)
        if version is None:
            raise serializers.ValidationError("This project has no registry version with this name.")
        return version


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset: `size` counts its examples, `with_gold` those that have gold.

    Of a large one as counted at `counted_at`, and null before it was counted for the first time; else as of now.
    """

    default_tools = RegistryVersionField(allow_null=True)
    size = serializers.IntegerField(read_only=True, allow_null=True)
    with_gold = serializers.IntegerField(read_only=True, allow_null=True)
    counted_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = Dataset
        fields = (
            "id",
            "slug",
            "name",
            "description",
            "guideline",
            "default_tools",
            "decided_by",
            "size",
            "with_gold",
            "counted_at",
            "created_at",
        )


class DatasetChangeSerializer(PlainSerializer):
    """The changeable fields of a dataset."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, default="")
    guideline = serializers.CharField(allow_blank=True, default="")
    default_tools = RegistryVersionField(allow_null=True, default=None)
    decided_by = DecidedByField(required=False)


class NewDatasetSerializer(DatasetChangeSerializer):
    """A dataset to make."""

    slug = serializers.SlugField(max_length=60)


class ShownStrataSerializer(PlainSerializer):
    """Names of strata."""

    strata = serializers.ListField(child=serializers.ChoiceField(choices=Example.STRATA))


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
        dataset = dataset_create(project=self.project, actor=self.user, **serializer.validated_data)
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
        dataset_update(dataset=dataset_row, actor=self.user, **serializer.validated_data)
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
        return self._show(strata_show(dataset=dataset_row, actor=self.user, **serializer.validated_data))

    def _show(self, dataset: Dataset) -> Response:
        return Response({"strata": dataset.shown_strata})


def _shown(dataset: Dataset, user: User) -> Any:
    return DatasetSerializer(datasets_counted([dataset], actor=user)[0]).data
