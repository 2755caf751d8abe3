"""Show what calls took, in the REST interface: the same table as the page and the file."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.tool_costs import By
from reports.api.views import GRADING, RunReportView
from reports.pages.tool_costs import grading_tool_costs, read_order


class CaseValueSerializer(serializers.Serializer[Any]):
    """A value, and the case that has it; of a percentile between two calls, the case of the upper one."""

    value = serializers.FloatField()
    case = serializers.UUIDField()


class CallTimingSerializer(serializers.Serializer[Any]):
    """Percentiles in milliseconds over the `known` times that were recorded; null without any."""

    known = serializers.IntegerField()
    p50 = CaseValueSerializer(allow_null=True)
    p95 = CaseValueSerializer(allow_null=True)
    p99 = CaseValueSerializer(allow_null=True)
    most = CaseValueSerializer(allow_null=True)


class CallAmountSerializer(serializers.Serializer[Any]):
    """The sum of the shares of the `known` calls whose step recorded it, null without any, and the largest share."""

    known = serializers.IntegerField()
    total = serializers.FloatField(allow_null=True)
    most = CaseValueSerializer(allow_null=True)


class ToolSpentSerializer(serializers.Serializer[Any]):
    """The cost of calls to one tool: `execution_ms` of the tool, `step_ms` of the model's steps that called it."""

    tool = serializers.CharField()
    calls = serializers.IntegerField()
    steps = serializers.IntegerField(help_text="Turns of the model in which it was called.")
    execution_ms = CallTimingSerializer()
    step_ms = CallTimingSerializer()
    tokens_in = CallAmountSerializer()
    tokens_out = CallAmountSerializer()
    cost = CallAmountSerializer()


class ToolCostsSerializer(serializers.Serializer[Any]):
    """Every tool that was called, and the sums over all of them."""

    calls = serializers.IntegerField()
    tokens_in = serializers.FloatField(allow_null=True)
    tokens_out = serializers.FloatField(allow_null=True)
    cost = serializers.FloatField(allow_null=True)
    tools = ToolSpentSerializer(many=True, source="rows")


class SpendingView(RunReportView):
    """The cost of the calls to each tool of a run."""

    @extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("order", str, enum=list(By), description="The largest first; by default by cost."),
        ],
        responses=ToolCostsSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        costs = grading_tool_costs(self.grading(number), read_order(request.query_params))
        return Response(ToolCostsSerializer(costs).data)
