"""Serve published scores in the REST interface."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.models import PublicScore
from reports.public_scores.queries import public_rows, published_row
from reports.public_scores.services import (
    COLUMNS,
    MOST_BYTES,
    public_score_record,
    public_score_withdraw,
    public_scores_import,
    read_score,
    read_scores,
)
from reports.run.api import RateSerializer
from reports.run.header import run_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.api.base import NewestFirst, ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent


class PublicScoreSerializer(serializers.ModelSerializer[PublicScore]):
    """A published score: to be read next to runs, never a gate. `ended_at` is null while it is in force.

    `rate` reads a share with its count as a proportion; null without a count.
    """

    rate = serializers.SerializerMethodField()

    class Meta:
        model = PublicScore
        fields = ("id", *COLUMNS, "rate", "created_at", "ended_at")
        read_only_fields = ("id", "created_at", "ended_at")

    @extend_schema_field(RateSerializer(allow_null=True))
    def get_rate(self, score: PublicScore) -> Any:
        counted = published_row(score).rate
        return RateSerializer(counted).data if counted else None


class PublicRowSerializer(PlainSerializer):
    """A score on a public benchmark: published, with its `url`, or of a run of this project, with `run`."""

    agent = serializers.CharField()
    benchmark = serializers.CharField()
    version = serializers.CharField()
    metric = serializers.CharField()
    value = serializers.FloatField()
    rate = RateSerializer(allow_null=True)
    on = serializers.DateField()
    url = serializers.CharField(source="source")
    run = serializers.IntegerField(allow_null=True)


@extend_schema_view(
    get=extend_schema(
        parameters=[OpenApiParameter("history", str, enum=["all"], description="Those out of force, too.")]
    )
)
class PublicScoresView(ProjectView, ListAPIView[PublicScore]):
    """Published scores, the newest first; by POST, record one, in place of one of the same."""

    serializer_class = PublicScoreSerializer
    pagination_class = NewestFirst
    queryset = PublicScore.objects.none()

    def get_queryset(self) -> QuerySet[PublicScore]:
        scores = PublicScore.objects.in_project(self.project)
        return scores if self.request.query_params.get("history") == "all" else scores.in_force()

    @extend_schema(request=PublicScoreSerializer, responses={201: PublicScoreSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if not isinstance(request.data, dict):
            raise InvalidDocument.at("", "must be an object")
        public_score = public_score_record(
            project=self.project, actor=self.user, score=read_score(dict(request.data.items()))
        )
        return Response(PublicScoreSerializer(public_score).data, status=HTTPStatus.CREATED)


class PublicScoresImportView(ProjectView):
    """Scores of a CSV file, recorded all or none; a problem's pointer begins with the line."""

    @extend_schema(
        request={
            "multipart/form-data": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
        },
        responses={201: PublicScoreSerializer(many=True)},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        upload = request.FILES.get("file")
        if upload is None:
            raise InvalidDocument.at("/file", "is missing: send a CSV file")
        made = public_scores_import(
            project=self.project, actor=self.user, scores=read_scores(upload.read(MOST_BYTES + 1))
        )
        return Response(PublicScoreSerializer(made, many=True).data, status=HTTPStatus.CREATED)


class PublicScoreView(ProjectView):
    """One published score; DELETE takes it out of force, and it stays in the history."""

    @extend_schema(responses=PublicScoreSerializer)
    def get(self, request: Request, score: UUID) -> Response:
        row = get_object_or_404(PublicScore.objects.in_project(self.project), pk=score)
        return Response(PublicScoreSerializer(row).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, score: UUID) -> Response:
        row = get_object_or_404(PublicScore.objects.in_project(self.project), pk=score)
        public_score_withdraw(score=row, actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)


class RunPublicScoresView(ProjectView):
    """Show what is known on public benchmarks of a run's agent, this run aside: never a gate."""

    @extend_schema(responses=PublicRowSerializer(many=True))
    def get(self, request: Request, number: int) -> Response:
        run = run_of(self.access, number)
        return Response(PublicRowSerializer(public_rows(run.agent, without=run), many=True).data)
