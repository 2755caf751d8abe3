"""Show what prepares a dataset: coverage and its quotas, lint, drafts of edge cases."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.datasets import ExampleSerializer
from labeling.coverage import page
from labeling.coverage.cache import coverage_of
from labeling.coverage.counting import Counts
from labeling.coverage.quotas import SCHEMA, quotas_of
from labeling.coverage.table import tool_rows
from labeling.coverage.tools import tools_to_cover
from labeling.models import LintReport, ProposedExample
from labeling.queue.shown_strata import hidden_strata
from labeling.services.proposals import LONGEST_WORDS, MOST_AT_ONCE
from toolevals.grading.edge_cases import EdgeCase
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import within

KINDS = [kind.value for kind in EdgeCase]


class CoverageCellSerializer(serializers.Serializer[Any]):
    """Counts the examples with gold of a tool and a kind, those wanted (null: none are), and those that lack."""

    covers = serializers.CharField(source="cell.covers")
    have = serializers.IntegerField()
    wanted = serializers.IntegerField(allow_null=True)
    lacking = serializers.IntegerField()


class CoverageToolSerializer(serializers.Serializer[Any]):
    """One tool's cells."""

    tool = serializers.CharField()
    cells = CoverageCellSerializer(many=True)


class CoverageShareSerializer(serializers.Serializer[Any]):
    """One class of a stratum; `waiting` examples have no gold yet."""

    stratum = serializers.CharField()
    name = serializers.CharField()
    have = serializers.IntegerField()
    wanted = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField()


class CoverageGapSerializer(serializers.Serializer[Any]):
    """Something to add."""

    lacking = serializers.IntegerField()
    tool = serializers.CharField()
    what = serializers.CharField()
    have = serializers.IntegerField()
    wanted = serializers.IntegerField()
    waiting = serializers.IntegerField()


class CoverageSerializer(serializers.Serializer[Any]):
    """Holds what a dataset covers. Large datasets are counted by a job: `counted_at` says when, null is now."""

    counted_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True)
    size = serializers.IntegerField()
    gold = serializers.IntegerField()
    waiting = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    tools = CoverageToolSerializer(many=True)
    strata = CoverageShareSerializer(many=True)
    next = CoverageGapSerializer(many=True)


@extend_schema_field(dict(SCHEMA))
class LintSerializer(serializers.Serializer[Any]):
    """A report: findings, how many of each rule, and what an agent that does nothing passes."""

    created_at = serializers.DateTimeField()
    examples = serializers.IntegerField(source="document.examples")
    gold = serializers.IntegerField(source="document.gold")
    passed_idle = serializers.IntegerField(source="document.passed_idle")
    no_call = serializers.IntegerField(source="document.no_call")
    tools = serializers.IntegerField(source="document.tools")
    counts = serializers.DictField(child=serializers.IntegerField(), source="document.counts")
    findings = serializers.ListField(child=serializers.DictField(), source="document.findings")
    ignored = serializers.DictField(child=serializers.DictField(), source="document.ignored")


class IgnoredSerializer(serializers.Serializer[Any]):
    """The reason why a finding is ignored."""

    reason = serializers.CharField(max_length=300)


class ProposalSerializer(serializers.ModelSerializer[ProposedExample]):
    """A draft of an edge case, made from the example `origin`."""

    origin = serializers.UUIDField(source="origin.example_id")
    input = serializers.JSONField()
    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = ProposedExample
        fields = ("id", "origin", "tool", "parameter", "kind", "input", "expectation", "state", "example", "created_at")


class NewProposalsSerializer(serializers.Serializer[Any]):
    """Says which drafts to make; null is any."""

    tools = serializers.ListField(child=serializers.CharField(max_length=200), allow_null=True, default=None)
    kinds = serializers.ListField(child=serializers.ChoiceField(KINDS), allow_null=True, default=None)
    limit = serializers.IntegerField(min_value=1, max_value=MOST_AT_ONCE, default=50)


class MadeSerializer(serializers.Serializer[Any]):
    """Counts the drafts that are new."""

    made = serializers.IntegerField()


class AcceptSerializer(serializers.Serializer[Any]):
    """Other last words of the user; null leaves those of the draft."""

    words = serializers.CharField(max_length=LONGEST_WORDS, allow_null=True, default=None)


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
        dataset_row = services.quotas_set(dataset=self.find_dataset(dataset), actor=self.user, document=request.data)
        return Response(quotas_of(dataset_row))


class Lint(LabelingView):
    """The newest report about a dataset; by POST, another: at once for some hundred examples, else by a job."""

    @extend_schema(responses=LintSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return Response(LintSerializer(_newest_report(self, dataset)).data)

    @extend_schema(request=None, responses={201: LintSerializer, 202: JobSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        job = services.lint_start(dataset=self.find_dataset(dataset), actor=self.user)
        if job is not None:
            return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED)
        return Response(LintSerializer(_newest_report(self, dataset)).data, status=HTTPStatus.CREATED)


class LintFinding(LabelingView):
    """Let a finding be, by PUT and with a reason; by DELETE, show it again."""

    @extend_schema(request=IgnoredSerializer, responses={204: None})
    def put(self, request: Request, dataset: str, finding: str) -> Response:
        dataset_row, asked = self.find_dataset(dataset), IgnoredSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        reason = asked.validated_data["reason"]
        services.finding_ignore(dataset=dataset_row, actor=self.user, key=finding, reason=reason)
        return Response(status=HTTPStatus.NO_CONTENT)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, dataset: str, finding: str) -> Response:
        services.finding_restore(dataset=self.find_dataset(dataset), actor=self.user, key=finding)
        return Response(status=HTTPStatus.NO_CONTENT)


class Proposals(LabelingView, ListAPIView[ProposedExample]):
    """The drafts of edge cases that no one has decided, newest first; by POST, more of them."""

    serializer_class = ProposalSerializer
    queryset = ProposedExample.objects.none()

    def get_queryset(self) -> QuerySet[ProposedExample]:
        query = self.request.query_params
        rows = ProposedExample.objects.of_dataset(self.find_dataset(self.kwargs["dataset"])).open()
        about = rows.about(tool=query.get("tool", ""), kind=query.get("kind", ""))
        return about.select_related("origin")

    @extend_schema(parameters=[OpenApiParameter("tool", str), OpenApiParameter("kind", str, enum=KINDS)])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(request=NewProposalsSerializer, responses={201: MadeSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        serializer = NewProposalsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = services.proposals_make(dataset=self.find_dataset(dataset), actor=self.user, **serializer.validated_data)
        return Response({"made": made}, status=HTTPStatus.CREATED)


class ProposalAccept(LabelingView):
    """Make an example to be labelled of a draft."""

    @extend_schema(request=AcceptSerializer, responses={201: ExampleSerializer})
    def post(self, request: Request, proposal: UUID) -> Response:
        proposal_row, asked = _proposal(self, proposal), AcceptSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        example = services.proposal_accept(proposal=proposal_row, actor=self.user, words=asked.validated_data["words"])
        return Response(
            ExampleSerializer(self.find_example(example.pk), context={"role": self.role}).data,
            status=HTTPStatus.CREATED,
        )


class ProposalDrop(LabelingView):
    """Drop a draft; it is not made again from the same example."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, proposal: UUID) -> Response:
        proposal_row = _proposal(self, proposal)
        services.proposals_drop(dataset=proposal_row.dataset, actor=self.user, proposals=[proposal_row.pk])
        return Response(status=HTTPStatus.NO_CONTENT)


def _newest_report(view: LabelingView, slug: str) -> LintReport:
    report = LintReport.objects.filter(dataset=view.find_dataset(slug)).order_by("-id").first()
    if report is None:
        raise Http404
    return report


def _proposal(view: LabelingView, pk: UUID) -> ProposedExample:
    rows = ProposedExample.objects.filter(within(view.project, "dataset")).select_related("dataset__project")
    return get_object_or_404(rows, pk=pk)
