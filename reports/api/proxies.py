"""Show what cheaper checks are worth, in the REST interface."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.api.serializers import RateSerializer
from reports.api.views import GRADING, RunReportView
from reports.queries.proxies import grading_proxies


class ProxySerializer(serializers.Serializer[Any]):
    """One check next to the truth, in the cases that both passed or failed; accepted is what the check passed."""

    proxy = serializers.CharField()
    truth = serializers.CharField()
    true_accepts = serializers.IntegerField()
    false_accepts = serializers.IntegerField()
    false_rejects = serializers.IntegerField()
    true_rejects = serializers.IntegerField()
    precision = RateSerializer()
    recall = RateSerializer()


class ProxiesView(RunReportView):
    """The agreement of checks of the calls with the end state; empty where no end state was graded."""

    @extend_schema(parameters=[GRADING], responses=ProxySerializer(many=True))
    def get(self, request: Request, number: int) -> Response:
        return Response(ProxySerializer(grading_proxies(self.grading(number)), many=True).data)
