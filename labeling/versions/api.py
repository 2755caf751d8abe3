"""Serve frozen versions by REST."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.models import DatasetVersion
from labeling.versions.changes import CHANGES, KINDS, VersionDiff
from labeling.versions.models import TAG_RULE
from labeling.versions.services import version_describe, version_freeze
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.requests import whole_number
from toolevals.workspace.tables import serializer_of


@extend_schema_field({"oneOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]})
class VersionNameField(serializers.CharField):
    """The number or a tag of a frozen version."""


class DatasetVersionSerializer(serializers.ModelSerializer[DatasetVersion]):
    """A frozen version."""

    name = serializers.CharField(source="__str__")
    tags = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = DatasetVersion
        fields = ("id", "name", "number", "note", "tags", "size", "created_at")


class NewDatasetVersionSerializer(PlainSerializer):
    """The description of a new version."""

    note = serializers.CharField(max_length=300, allow_blank=True, default="")
    without_second_looks = serializers.BooleanField(
        default=False, help_text="Leave out gold that rests on what an agent proposed."
    )
    misfits_reason = serializers.CharField(
        max_length=200,
        allow_blank=True,
        default="",
        help_text="Why labels that break their tools' schemas are frozen anyway; without it they are refused.",
    )


class VersionChangeSerializer(PlainSerializer):
    """The changeable parts of a version's description."""

    note = serializers.CharField(max_length=300, allow_blank=True, required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False, help_text=TAG_RULE)
    move = serializers.BooleanField(default=False, help_text="Take a tag from the version of the dataset that has it.")


class VersionChangesSerializer(PlainSerializer):
    """The changes between two versions; `next` is where the next page begins, null at the end."""

    before = serializers.CharField()
    after = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())
    results = serializer_of(CHANGES)(many=True)
    next = serializers.IntegerField(allow_null=True)


class Versions(LabelingView, ListAPIView[DatasetVersion]):
    """A dataset's versions, newest first; by POST, one of today. If nothing changed, the newest is answered."""

    serializer_class = DatasetVersionSerializer
    queryset = DatasetVersion.objects.none()

    def get_queryset(self) -> QuerySet[DatasetVersion]:
        dataset = self.find_dataset(self.kwargs["dataset"])
        return DatasetVersion.objects.filter(dataset=dataset).select_related("dataset")

    @extend_schema(request=NewDatasetVersionSerializer, responses={201: DatasetVersionSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        serializer = NewDatasetVersionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        version = version_freeze(dataset=dataset_row, actor=self.user, **serializer.validated_data)
        return Response(DatasetVersionSerializer(version).data, status=201)


class VersionDetail(LabelingView):
    """One version; by PATCH, its note and tags, those that are sent."""

    @extend_schema(responses=DatasetVersionSerializer)
    def get(self, request: Request, dataset: str, version: str) -> Response:
        return Response(DatasetVersionSerializer(self.find_version(dataset, version)).data)

    @extend_schema(request=VersionChangeSerializer, responses=DatasetVersionSerializer)
    def patch(self, request: Request, dataset: str, version: str) -> Response:
        version_row = self.find_version(dataset, version)
        serializer = VersionChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        changed = version_describe(version=version_row, actor=self.user, **serializer.validated_data)
        return Response(DatasetVersionSerializer(changed).data)


class VersionChanges(LabelingView):
    """The changes since another version: counts of every kind of change, and the examples of one kind, in pages."""

    @extend_schema(
        responses=VersionChangesSerializer,
        parameters=[
            OpenApiParameter("since", str, description="A number or a tag; by default the version before."),
            OpenApiParameter("kind", str, enum=list(KINDS), description="By default added."),
            OpenApiParameter("from", int, description="Where the page starts: the `next` of the previous page."),
        ],
    )
    def get(self, request: Request, dataset: str, version: str) -> Response:
        after = self.find_version(dataset, version)
        since = request.query_params.get("since", "")
        before = (
            self.find_version(dataset, since)
            if since
            else after.dataset.versions.filter(number__lt=after.number).first()
        )
        kind = request.query_params.get("kind", "added")
        if kind not in KINDS:
            raise Http404
        diff, start = VersionDiff(before or after, after), request.query_params.get("from", "")
        cursor = whole_number(start) or 0
        rows, following = diff.page(kind, cursor, user=self.user, role=self.role)
        shown = {
            "before": str(before),
            "after": str(after),
            "counts": diff.counts(),
            "results": rows,
            "next": following,
        }
        return Response(VersionChangesSerializer(shown).data)
