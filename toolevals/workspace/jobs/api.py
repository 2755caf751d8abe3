"""Serves long work as a resource in the REST interface."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.reading.reading_report import report_in_one_shape
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.jobs.services import JobStateError, job_cancel, job_pause, job_resume, job_retry
from toolevals.workspace.models import (
    Job,
    JobState,
)


class JobSerializer(serializers.ModelSerializer[Job]):
    """Long work: how far it is, and what it found."""

    state = serializers.ChoiceField(choices=JobState.choices)
    reason = serializers.CharField(read_only=True, help_text="Why it failed; empty where it did not.")
    report = serializers.SerializerMethodField()
    done = serializers.SerializerMethodField()
    total = serializers.SerializerMethodField()
    rate = serializers.FloatField(
        source="pace.rate", default=None, allow_null=True, help_text="Items a second in the current stage."
    )
    seconds_left = serializers.FloatField(
        source="pace.left_seconds", default=None, allow_null=True, help_text="Of that stage, at that rate."
    )

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "title",
            "state",
            "reason",
            "stage",
            "done",
            "total",
            "rate",
            "seconds_left",
            "report",
            "result_path",
            "created_at",
            "finished_at",
        )

    @extend_schema_field(OpenApiTypes.ANY)
    def get_report(self, job: Job) -> Any:
        return report_in_one_shape(job.report) if isinstance(job.report, dict) else job.report

    def get_done(self, job: Job) -> int:
        return job.progress[0]

    def get_total(self, job: Job) -> int:
        return job.progress[1]


class Jobs(ProjectView, ListAPIView[Job]):
    """The project's jobs, newest first."""

    serializer_class = JobSerializer
    queryset = Job.objects.none()

    def get_queryset(self) -> QuerySet[Job]:
        return Job.objects.of_project(self.project).with_progress()


class JobView(ProjectView):
    """The base of the views of one job."""

    def find(self, pk: UUID) -> Job:
        """Return the project's job. Raises `Http404`."""
        return get_object_or_404(Job.objects.of_project(self.project).with_progress(), pk=pk)

    def show(self, pk: UUID) -> Response:
        """Answer with the job as it is now."""
        return Response(JobSerializer(self.find(pk)).data)

    def act(self, pk: UUID, service: Callable[..., Job]) -> Response:
        """Do with the job what the service does, and answer with it; 409 where its state does not allow that."""
        try:
            service(job=self.find(pk), actor=self.user)
        except JobStateError as error:
            raise Problems(HTTPStatus.CONFLICT, str(error)) from error
        return self.show(pk)


class JobDetail(JobView):
    """One job: ask until `state` is neither "running" nor "paused"; by DELETE, cancel it."""

    @extend_schema(responses=JobSerializer)
    def get(self, request: Request, job: UUID) -> Response:
        return self.show(job)

    @extend_schema(responses={200: JobSerializer})
    def delete(self, request: Request, job: UUID) -> Response:
        return self.act(job, job_cancel)


class JobPause(JobView):
    """Begin nothing more of a running job for now."""

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, job: UUID) -> Response:
        return self.act(job, job_pause)


class JobResume(JobView):
    """Go on with a paused job."""

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, job: UUID) -> Response:
        return self.act(job, job_resume)


class JobRetry(JobView):
    """Another go at what failed or was cancelled."""

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, job: UUID) -> Response:
        return self.act(job, job_retry)
