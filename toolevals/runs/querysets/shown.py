"""Read the run and the grading that a page, an answer or a batch is about.

The queries are put together once in a process.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from toolevals.runs.models import Grading, Run
from toolevals.workspace.models import Project
from toolevals.workspace.querysets.prepared import A_NUMBER, PreparedQuery, an_id

# Above all numbers of a column: PostgreSQL refuses to compare with more.
TOO_LARGE = 2**31


def numbered_run(project: Project, number: int) -> Run | None:
    """Return the project's run of that number as a list of runs has it, with `newest_version` and `newest_grading`."""
    found: Run | None = _RUN.first(project=project.pk, number=number) if number < TOO_LARGE else None
    return found


def shown_grading(run: Run, number: int | None) -> Grading | None:
    """Return the run's grading of that number, or the newest finished one; None where there is none."""
    found: Grading | None = None
    if number:
        found = _NUMBERED.first(run=run.pk, number=number) if number < TOO_LARGE else None
    elif run.grading_id:
        found = _NEWEST.first(run=run.pk, grading=run.grading_id)
    if found is not None:
        found.run = run
    return found


def grading_at_work(pk: str) -> Grading:
    """Return a grading with all that its batches read of it. Raises Grading.DoesNotExist."""
    found: Grading | None = _AT_WORK.first(grading=UUID(pk))
    if found is None:
        raise Grading.DoesNotExist
    return found


def _gradings(**wanted: Any) -> QuerySet[Grading]:
    return Grading.objects.filter(finished_at__isnull=False, **wanted).select_related("dataset_version__dataset")[:1]


_RUN = PreparedQuery(
    lambda project, number: Run.objects.in_project(project).with_newest().filter(number=number)[:1],
    {"project": an_id(1), "number": A_NUMBER},
)
_NUMBERED = PreparedQuery(_gradings, {"run": an_id(1), "number": A_NUMBER})
_NEWEST = PreparedQuery(lambda run, grading: _gradings(run=run, pk=grading), {"run": an_id(1), "grading": an_id(2)})
_AT_WORK = PreparedQuery(
    lambda grading: Grading.objects.filter(pk=grading).select_related(
        "run__agent__tools__tools", "run__dataset_version", "dataset_version__dataset", "simulator"
    ),
    {"grading": an_id(1)},
)
