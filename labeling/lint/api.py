"""Answer about lint reports over REST."""

from __future__ import annotations

from http import HTTPStatus

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.coverage.quotas import SCHEMA
from labeling.lint.services import finding_ignore, finding_restore, lint_start
from labeling.models import LintReport
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.jobs.api import JobSerializer


@extend_schema_field(dict(SCHEMA))
class LintSerializer(PlainSerializer):
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


class IgnoredSerializer(PlainSerializer):
    """The reason why a finding is ignored."""

    reason = serializers.CharField(max_length=300)


class Lint(LabelingView):
    """The newest report about a dataset; by POST, another: at once for some hundred examples, else by a job."""

    @extend_schema(responses=LintSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return Response(LintSerializer(_newest_report(self, dataset)).data)

    @extend_schema(request=None, responses={201: LintSerializer, 202: JobSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        job = lint_start(dataset=self.find_dataset(dataset), actor=self.user)
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
        finding_ignore(dataset=dataset_row, actor=self.user, key=finding, reason=reason)
        return Response(status=HTTPStatus.NO_CONTENT)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, dataset: str, finding: str) -> Response:
        finding_restore(dataset=self.find_dataset(dataset), actor=self.user, key=finding)
        return Response(status=HTTPStatus.NO_CONTENT)


def _newest_report(view: LabelingView, slug: str) -> LintReport:
    report = LintReport.objects.filter(dataset=view.find_dataset(slug)).order_by("-id").first()
    if report is None:
        raise Http404
    return report
