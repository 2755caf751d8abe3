"""Read the run and the grading that a page, an answer or a batch is about."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from toolevals.runs.models import Grading, Run
from toolevals.workspace.models import Project
from toolevals.workspace.requests import whole_number

# Above all numbers of a column: PostgreSQL refuses to compare with more.
TOO_LARGE = 2**31


def numbered_run(project: Project, number: int) -> Run | None:
    """Return the project's run of that number as a list of runs has it, with `newest_version` and `newest_grading`."""
    if number >= TOO_LARGE:
        return None
    found: Run | None = Run.objects.in_project(project).with_newest().filter(number=number).first()
    return found


def shown_grading(run: Run, number: int | None) -> Grading | None:
    """Return the run's grading of that number, or the newest finished one; None where there is none."""
    found: Grading | None = None
    if number:
        found = _gradings(run=run, number=number).first() if number < TOO_LARGE else None
    elif run.grading_id:
        found = _gradings(run=run, pk=run.grading_id).first()
    if found is not None:
        found.run = run
    return found


def grading_at_work(pk: str) -> Grading:
    """Return a grading with all that its batches read of it. Raises Grading.DoesNotExist."""
    read = ("run__agent__tools__tools", "run__dataset_version", "dataset_version__dataset", "simulator")
    return Grading.objects.select_related(*read).get(pk=pk)


def _gradings(**wanted: Any) -> QuerySet[Grading]:
    return Grading.objects.filter(finished_at__isnull=False, **wanted).select_related("dataset_version__dataset")


def asked_grading(run: Run, number: str) -> Grading | None:
    """Return the run's finished grading of that number; without one the newest, None where none is finished.

    Raises Http404 where the run has no such grading.
    """
    if not number:
        return run.grading
    asked = whole_number(number)
    if asked is None:
        raise Http404
    return get_object_or_404(run.gradings, number=asked, finished_at__isnull=False)
