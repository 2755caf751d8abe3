"""Answer about coverage and quotas over REST."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.coverage import page
from labeling.coverage.cache import coverage_of
from labeling.coverage.counting import Counts, tools_to_cover
from labeling.coverage.quotas import quotas_of, quotas_set
from labeling.coverage.table import tool_rows
from labeling.examples.shown_strata import hidden_strata
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of


class CoverageCellSerializer(PlainSerializer):
    """Counts the examples with gold of a tool and a kind, those wanted (null: none are), and those that lack."""

    covers = serializers.CharField(source="cell.covers")
    have = serializers.IntegerField()
    wanted = serializers.IntegerField(allow_null=True)
    lacking = serializers.IntegerField()


class CoverageToolSerializer(PlainSerializer):
    """One tool's cells."""

    tool = serializers.CharField()
    cells = CoverageCellSerializer(many=True)


class CoverageShareSerializer(PlainSerializer):
    """One class of a stratum; `waiting` examples have no gold yet."""

    stratum = serializers.CharField()
    name = serializers.CharField()
    have = serializers.IntegerField()
    wanted = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField()


class CoverageSerializer(PlainSerializer):
    """Holds what a dataset covers. Large datasets are counted by a job: `counted_at` says when, null is now."""

    counted_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True)
    size = serializers.IntegerField()
    gold = serializers.IntegerField()
    waiting = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    tools = CoverageToolSerializer(many=True)
    strata = CoverageShareSerializer(many=True)
    next = serializer_of(page.GAPS)(many=True)


class Coverage(LabelingView):
    """The examples of a dataset's gold against its quotas, and what to add next, the most lacking first."""

    @extend_schema(responses=CoverageSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        covered = coverage_of(dataset_row, actor=self.user).told(hidden_strata(dataset_row, self.role))
        counts = covered.counts or Counts()
        told = counts, quotas_of(dataset_row), tools_to_cover(dataset_row, counts)
        drawn = page.drawn(*told, page.State())
        answer = {
            "counted_at": covered.counted_at,
            "job": covered.job.pk if covered.job else None,
            "size": counts.size,
            "gold": counts.gold,
            "waiting": counts.waiting,
            "set_aside": counts.set_aside,
            "tools": tool_rows(*told),
            "strata": drawn.shares,
            "next": drawn.gaps,
        }
        return Response(CoverageSerializer(answer).data)


class Quotas(LabelingView):
    """The number of examples of each kind that a dataset should hold; PUT sets it. A field left out has its default."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, dataset: str) -> Response:
        return Response(quotas_of(self.find_dataset(dataset)))

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, dataset: str) -> Response:
        dataset_row = quotas_set(dataset=self.find_dataset(dataset), actor=self.user, document=request.data)
        return Response(quotas_of(dataset_row))
