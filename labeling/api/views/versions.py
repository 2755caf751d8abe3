"""Serve frozen versions by REST."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import (
    DatasetVersionSerializer,
    NewDatasetVersionSerializer,
    VersionChangeSerializer,
    VersionChangesSerializer,
)
from labeling.models import DatasetVersion
from labeling.versions.changes import KINDS, VersionDiff
from toolevals.workspace.requests import whole_number


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
        version = services.version_freeze(dataset=dataset_row, actor=self.user, **serializer.validated_data)
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
        changed = services.version_describe(version=version_row, actor=self.user, **serializer.validated_data)
        return Response(DatasetVersionSerializer(changed).data)


class VersionChanges(LabelingView):
    """The changes since another version: counts of every kind of change, and the examples of one kind, in pages."""

    @extend_schema(
        responses=VersionChangesSerializer,
        parameters=[
            OpenApiParameter("since", str, description="A number or a tag; by default the version before."),
            OpenApiParameter("kind", str, enum=list(KINDS), description="By default added."),
            OpenApiParameter("from", int, description="Where the page begins: the `next` of the one before."),
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
