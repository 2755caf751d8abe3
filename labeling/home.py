"""Tell what labelling tells on a project's first page, and find datasets and examples by name.

See `toolevals.workspace.home` and `toolevals.workspace.search`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from labeling.label.open_tasks import MANY
from labeling.models import Dataset, DatasetVersion, Example
from labeling.second_looks.pending_second_looks import MOST as MOST_LOOKS
from toolevals.workspace.home import MOST_NEWS, News, PendingTask, due_of
from toolevals.workspace.models import Job, JobState, Project, Role, within
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.search import MOST, Found


def waiting(project: Project, role: Role, counted: Mapping[str, int]) -> Iterator[PendingTask]:
    """Yield what waits for a person who labels, and for one who decides."""
    if role < Role.REVIEWER:
        return
    at = {name: reverse(f"labeling:{name}", args=[project.slug]) for name in ("label", "questions", "feedback")}
    yield PendingTask(counted["to_label"], "example to label", "examples to label", at["label"], "Label examples", MANY)
    kept = counted.get("assigned_examples", 0)
    due = due_of(counted, "assigned_examples")
    yield PendingTask(kept, "example kept for you", "examples kept for you", at["label"], "Label them", MANY, due)
    looks = reverse("labeling:second-looks", args=[project.slug])
    # Counted for the first page alone; the page after the last label says it in its own words.
    waits = counted.get("second_looks", 0)
    yield PendingTask(waits, "second look", "second looks", looks, "Take second looks", MOST_LOOKS)
    if role >= Role.ADJUDICATOR:
        decide = reverse("labeling:adjudicate", args=[project.slug])
        yield PendingTask(
            counted["differing"], "example to decide", "examples to decide", decide, "Decide labels", MANY
        )
        yield PendingTask(
            counted["disputed"], "dispute to decide", "disputes to decide", decide, "Decide disputes", MANY
        )
        mine, due = counted.get("assigned_disputes", 0), due_of(counted, "assigned_disputes")
        at_mine = f"{reverse('labeling:adjudicate', args=[project.slug])}?list&assigned=me"
        yield PendingTask(
            mine, "dispute assigned to you", "disputes assigned to you", at_mine, "See your disputes", MANY, due
        )
        yield PendingTask(
            counted["to_answer"], "question to answer", "questions to answer", at["questions"], "Answer questions", MANY
        )
    answered = counted["answered"]
    yield PendingTask(
        answered,
        "of your questions has an answer",
        "of your questions have answers",
        at["questions"],
        "Read answers",
        MANY,
    )
    read = counted["to_read"]
    yield PendingTask(
        read,
        "decision on your labels to read",
        "decisions on your labels to read",
        at["feedback"],
        "Read feedback",
        MANY,
    )
    calibrate = reverse("labeling:calibration-waiting", args=[project.slug])
    left = counted["to_calibrate"]
    yield PendingTask(left, "calibration example to label", "calibration examples to label", calibrate, "Calibrate")


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield versions that were frozen and files that were imported, the newest first of each."""
    for at, dataset, name, number, size, by in _frozen(project, since):
        url = reverse("labeling:version-examples", args=[project.slug, dataset, number])
        yield News(at, f"{name} v{number} was frozen: {_examples(size)}", url, by or "")
    for job in _imported(project, since):
        url = reverse("workspace:job", args=[project.slug, job.pk])
        done = f"{_examples(job.report.get('added', 0))} added"
        # Of an import that is over, the end is told: `finished_at` is there.
        yield News(job.finished_at or job.created_at, f"{job.title}: {done}", url, job.actor.name if job.actor else "")


def _examples(count: int) -> str:
    return f"{count:,} example{'' if count == 1 else 's'}"


def _frozen(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return (
        DatasetVersion.objects.filter(within(project, "dataset"), created_at__gt=since)
        .order_by("-pk")
        .values_list("created_at", "dataset__slug", "dataset__name", "number", "size", "actor__name")[: MOST_NEWS + 1]
    )


def _imported(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return (
        Job.objects.of_project(project)
        .filter(kind="import", state=JobState.SUCCEEDED, finished_at__gt=since)
        .select_related("actor")
        .order_by("-pk")[: MOST_NEWS + 1]
    )


def labeling_found(request: ProjectRequest, words: str) -> Iterator[Found]:
    """Yield datasets by name, and examples whose id begins with the words."""
    project = request.project
    for dataset in Dataset.objects.filter(project=project, name__icontains=words).order_by("name", "pk")[:MOST]:
        yield Found(
            "Datasets", dataset.name, dataset.slug, reverse("labeling:dataset", args=[project.slug, dataset.slug])
        )
    examples = Example.objects.filter(within(project, "dataset"), external_id__startswith=words)
    for example in examples.select_related("dataset").order_by("external_id", "pk")[:MOST]:
        url = reverse("labeling:example", args=[project.slug, example.dataset.slug, example.pk])
        yield Found("Examples", example.external_id, example.dataset.name, url)
