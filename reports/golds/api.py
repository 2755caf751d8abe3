"""Serve one run under every gold that it was graded against, in the REST interface."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.filters.case_filters import address_query
from reports.filters.case_filters import number as read_number
from reports.golds.queries import (
    CASES,
    CAUSES,
    GOLDS,
    HOWS,
    GoldFilter,
    gold_case_lines,
    gold_changes,
    gold_rows,
    two_gradings,
)
from reports.run.header import run_head
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of

PAGE, MOST = 100, 1000


class GoldRowsSerializer(PlainSerializer):
    """A page of a run's gradings; `next` is the address of the next one."""

    next = serializers.CharField(allow_null=True)
    results = serializer_of(GOLDS)(many=True)


class GoldCasesSerializer(PlainSerializer):
    """A page of the cases that changed; `next` is the address of the next one."""

    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    results = serializer_of(CASES)(many=True)


START = OpenApiParameter("start", int, description="How many to skip.")


class GoldsView(ProjectView):
    """The run's finished gradings by dataset version, with what changed from each to the next."""

    @extend_schema(parameters=[START], responses=GoldRowsSerializer)
    def get(self, request: Request, number: int) -> Response:
        rows, more = gold_rows(
            run_head(self.access, number, "golds").run, read_number(request.query_params, "start") or 0
        )
        address = request.build_absolute_uri(request.path)
        document = {
            "next": None if more is None else f"{address}?start={more}",
            "results": rows,
        }
        return Response(GoldRowsSerializer(document).data)


class GoldChangesView(ProjectView):
    """The cases whose outcome changed between two gradings of a run."""

    @extend_schema(
        parameters=[
            OpenApiParameter("how", str, enum=list(HOWS), description="Only cases that changed so."),
            OpenApiParameter("cause", str, enum=list(CAUSES), description="Only cases of which this had changed."),
            START,
            OpenApiParameter("limit", int, description=f"At most {MOST}."),
        ],
        responses=GoldCasesSerializer,
    )
    def get(self, request: Request, number: int, before: int, after: int) -> Response:
        gradings = two_gradings(run_head(self.access, number, "golds").run, before, after)
        asked = request.query_params
        gold_filter, start = GoldFilter.of_address(asked), read_number(asked, "start") or 0
        limit = max(1, min(read_number(asked, "limit") or PAGE, MOST))
        count = gold_changes(*gradings).of(how=gold_filter.how, cause=gold_filter.cause)
        query = address_query(
            {"how": gold_filter.how, "cause": gold_filter.cause, "start": start + limit, "limit": limit}
        )
        address = request.build_absolute_uri(request.path)
        lines = gold_case_lines(gradings, gold_filter, start, limit)
        document = {
            "count": count,
            "next": f"{address}?{query}" if count > start + limit else None,
            "results": [dict(zip(CASES.head, line, strict=True)) for line in lines],
        }
        return Response(GoldCasesSerializer(document).data)
