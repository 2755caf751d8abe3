"""Show what every API view of labelling stands on."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework.response import Response

from labeling.errors import InvalidAct
from labeling.models import Dataset, DatasetVersion, Example
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.problems import Problems
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import Job

# A file that a job has written; 410 when it is not there.
STORED = {(200, "application/octet-stream"): OpenApiTypes.BINARY, 410: None}


class LabelingView(ProjectView):
    """A view within a project; an act that does not fit the state of things is answered by 409."""

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, InvalidAct):
            return super().handle_exception(Problems(HTTPStatus.CONFLICT, str(exc)))
        return super().handle_exception(exc)

    def find_dataset(self, slug: str) -> Dataset:
        """Return the project's dataset. Raises Http404."""
        dataset_row = Dataset.objects.in_project(self.project).filter(slug=slug).select_related("project").first()
        if dataset_row is None:
            raise Http404
        return dataset_row

    def find_version(self, dataset: str, name: str) -> DatasetVersion:
        """Return the frozen version of a dataset that has this number or tag. Raises Http404."""
        versions = DatasetVersion.objects.in_project(self.project).filter(dataset__slug=dataset)
        version_row = versions.select_related("dataset__project").called(name)
        if version_row is None:
            raise Http404
        return version_row

    def find_example(self, pk: UUID) -> Example:
        """Return the project's example with its content and `status`. Raises Http404."""
        examples = Example.objects.in_project(self.project).with_content().seen_by(self.user, self.role)
        return get_object_or_404(examples, pk=pk)


def job_accepted(job: Job) -> Response:
    """Return the answer that a job has begun: the job, as it is now."""
    shown = Job.objects.with_progress().get(pk=job.pk)
    return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)
