"""What labelling tells on a project's first page: see `toolevals.workspace.home`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from labeling.at_hand import count_answers
from labeling.models import DatasetVersion
from labeling.waiting import MANY, to_answer, to_calibrate, to_decide, to_label, to_read
from toolevals.workspace.home import MOST_NEWS, News, Waits
from toolevals.workspace.models import Job, JobState, Project, Role, User


def waiting(project: Project, user: User, role: Role) -> Iterator[Waits]:
    """Yield what waits for a person who labels, and for one who decides."""
    if role < Role.REVIEWER:
        return
    at = {name: reverse(f"labeling:{name}", args=[project.slug]) for name in ("label", "questions", "feedback")}
    yield Waits(to_label(project, user), "example to label", "examples to label", at["label"], MANY)
    if role >= Role.ADJUDICATOR:
        differing, disputed = to_decide(project, user)
        decide = reverse("labeling:adjudicate", args=[project.slug])
        yield Waits(differing, "example to decide", "examples to decide", decide, MANY)
        yield Waits(disputed, "dispute to decide", "disputes to decide", decide, MANY)
        yield Waits(to_answer(project, user), "question to answer", "questions to answer", at["questions"], MANY)
    answered = count_answers(project, user)
    yield Waits(answered, "of your questions is answered", "of your questions are answered", at["questions"])
    read = to_read(project, user)
    yield Waits(read, "outcome of a label to read", "outcomes of labels to read", at["feedback"], MANY)
    if (calibration := to_calibrate(project, user)) is not None:
        left = calibration.size - calibration.own  # type: ignore[attr-defined]
        answer = reverse("labeling:calibrate", args=[project.slug, calibration.dataset.slug, calibration.pk])
        yield Waits(left, "example left to calibrate on", "examples left to calibrate on", answer)


def news(project: Project, since: datetime) -> Iterator[News]:
    """Yield versions that were frozen and files that were imported, the newest first of each."""
    versions = DatasetVersion.objects.filter(dataset__project=project, created_at__gt=since).order_by("-pk")
    for version in versions.select_related("dataset", "actor")[: MOST_NEWS + 1]:
        url = reverse("labeling:version-examples", args=[project.slug, version.dataset.slug, version.number])
        words = f"{version.dataset.name} v{version.number} was frozen: {version.size:,} examples"
        yield News(version.created_at, words, url, version.actor.name if version.actor else "")
    jobs = Job.objects.filter(project=project, kind="import", state=JobState.SUCCEEDED, finished_at__gt=since)
    for job in jobs.select_related("actor").order_by("-pk")[: MOST_NEWS + 1]:
        url = reverse("workspace:job", args=[project.slug, job.pk])
        done = f"{job.report.get('added', 0):,} examples added"
        # Of an import that is over, the end is told: `finished_at` is there.
        yield News(job.finished_at or job.created_at, f"{job.title}: {done}", url, job.actor.name if job.actor else "")
