"""Large imports: placed in short transactions, shown in one, and swept where they come to nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from labeling.datasets import staging_datasets
from labeling.datasets.services import dataset_create
from labeling.imports import publish_import
from labeling.imports import services as imports
from labeling.imports.publish_import import LAST_LINE, Publication
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example, Gold, ImportPart, LabelSlot, Origin, Revision, StagedExample, VersionEntry
from labeling.versions import services as versions
from tests.labeling.rows import NO_CALL, call, document, row
from tests.labeling.test_imports import load, many
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.services import job_cancel, job_retry
from toolevals.workspace.models import Job, JobState, Project

__all__ = ["load"]
FEW = 4
HOUR = publish_import.STAGED_KEPT + timedelta(minutes=1)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Limit the rows that go into one transaction."""
    monkeypatch.setattr(publish_import, "AT_ONCE", FEW)
    monkeypatch.setattr(imports, "AT_ONCE", FEW)
    monkeypatch.setattr(versions, "AT_ONCE", FEW)
    monkeypatch.setattr(staging_datasets, "AT_ONCE", FEW)
    # However slow this machine is.
    monkeypatch.setattr(publish_import, "BUDGET_SECONDS", float("inf"))


@pytest.fixture
def meanwhile(monkeypatch) -> Callable[[int, Callable[[], None]], None]:
    """Return a function that has something done before one of the transactions that place rows, counted from 0."""

    def before(number: int, act: Callable[[], None]) -> None:
        place, calls = Publication.add, iter(range(1000))

        def add(self: Publication, after: int = 0, until: int = LAST_LINE) -> int:
            if next(calls) == number:
                act()
            return place(self, after, until)

        monkeypatch.setattr(Publication, "add", add)

    return before


def contents(dataset: Dataset) -> list[Any]:
    """Return what a dataset holds, without ids and times."""
    rows = Example.objects.filter(dataset=dataset).order_by("pk").select_related("current__gold")
    return [
        (
            each.external_id,
            each.strata,
            each.current.number,
            each.current.digest,
            each.current.resolution,
            each.current.gold and (each.current.gold.expectation, each.current.gold.rationale),
            each.current.slots.filter(state="open").count(),
            list(Origin.objects.filter(revision=each.current).values_list("document", flat=True)),
        )
        for each in rows
        if each.current
    ]


def nothing_left() -> bool:
    """Return whether no import has left anything behind."""
    there = Dataset.objects.filter(project__slug=staging_datasets.PROJECT)
    return not (StagedExample.objects.exists() or ImportPart.objects.exists() or there.exists())


def test_parts_and_one_go_come_to_the_same(project, dataset, adjudicator, load, monkeypatch):
    first = [*many(9), document("gold", expectation=call(), rationale="r")]
    changed = {"input": {"messages": [{"role": "user", "content": "Changed"}]}}
    second = [
        document("ex-000") | changed,
        document("ex-001", expectation=NO_CALL),
        document("ex-002", strata={"bucket": "selection"}),
        document("gold", expectation=NO_CALL),
        *[document(f"new-{n}", expectation=call() if n % 2 else NO_CALL) for n in range(7)],
        document("to label"),
    ]
    in_parts = [load(first).report, load(second).report]
    held = contents(dataset)
    publish_import.imports_sweep(database_now())
    assert nothing_left()
    monkeypatch.setattr(imports, "AT_ONCE", 1000)
    other = dataset_create(project=project, actor=None, slug="other", name="Other")
    Example.objects.filter(dataset=dataset).update(dataset=other)
    LabelSlot.objects.all().delete()
    at_once = [load(first).report, load(second).report]
    assert [{k: v for k, v in each.items() if k != "lines"} for each in in_parts] == [
        {k: v for k, v in each.items() if k != "lines"} for each in at_once
    ]
    assert held == contents(dataset)


def test_nobody_sees_any_of_it_before_all_of_it(project, dataset, load, meanwhile):
    seen = []
    meanwhile(2, lambda: seen.append((Example.objects.in_project(project).count(), LabelSlot.objects.count())))
    job = load(many(10))
    assert seen == [(0, 0)]
    assert job.report["added"] == Example.objects.in_project(project).count() == 10
    # The places for labels follow at once, some at a time.
    assert LabelSlot.objects.filter(dataset=dataset, state="open").count() == 20
    assert project.datasets.get() == dataset


def test_a_worker_that_dies_between_two_parts_loses_and_doubles_nothing(dataset, load, run_jobs, meanwhile):
    def die() -> None:
        raise ConnectionError("killed")

    meanwhile(1, die)
    job = load([*many(10), document("gold", expectation=call())])
    assert (job.state, Example.objects.filter(dataset=dataset).exists()) == (JobState.RUNNING, False)
    run_jobs(impatient=True)
    job.refresh_from_db()
    assert (job.state, job.report["added"]) == (JobState.SUCCEEDED, 11)
    assert Revision.objects.count() == 11
    assert Gold.objects.count() == 1
    assert LabelSlot.objects.count() == 20


def test_an_example_that_somebody_else_adds_meanwhile_is_told_as_a_change(dataset, load, meanwhile):
    same = [row("ex-001"), row("ex-008", expectation=call())]
    meanwhile(2, lambda: examples_import(dataset=dataset, actor=None, rows=same))
    job = load(many(10))
    assert job.state == JobState.SUCCEEDED
    assert (job.report["rows"], job.report["added"], job.report["unchanged"]) == (10, 8, 2)
    assert Example.objects.filter(dataset=dataset).count() == Example.objects.count() == 10


def test_what_a_cancelled_import_has_staged_is_swept_after_a_while_and_read_anew_when_it_is_retried(
    dataset, load, run_jobs, meanwhile
):
    meanwhile(2, lambda: job_cancel(job=Job.objects.get(kind="import"), actor=None))
    job = load(many(10))
    assert job.state == JobState.CANCELLED
    assert not Example.objects.filter(dataset=dataset).exists()
    assert publish_import.imports_sweep(database_now()) == 0
    assert StagedExample.objects.count() == 10
    publish_import.imports_sweep(database_now() + HOUR)
    assert nothing_left()
    assert not Example.objects.exists()
    assert not Revision.objects.exists()
    job_retry(job=job, actor=None)
    run_jobs()
    job.refresh_from_db()
    assert (job.state, job.report["added"]) == (JobState.SUCCEEDED, 10)
    assert Example.objects.filter(dataset=dataset).count() == 10


def test_an_import_that_is_retried_in_time_goes_on_from_its_parts(dataset, load, run_jobs, meanwhile):
    meanwhile(2, lambda: job_cancel(job=Job.objects.get(kind="import"), actor=None))
    job = load(many(10))
    job_retry(job=job, actor=None)
    run_jobs()
    job.refresh_from_db()
    assert (job.state, job.report["added"]) == (JobState.SUCCEEDED, 10)
    assert Revision.objects.count() == 10


def test_the_sweeper_takes_rows_away_in_parts_within_its_time(dataset, load, monkeypatch):
    monkeypatch.setattr(imports, "staged_sweep", lambda: 0)
    load(many(10))
    assert StagedExample.objects.filter(part__job=None).count() == 10
    now = iter((0.0, 0.0))
    monkeypatch.setattr(publish_import, "monotonic", lambda: next(now, 9.0))
    assert publish_import.staged_sweep(until=1.0) == 2 * FEW
    assert StagedExample.objects.count() == 10 - 2 * FEW


def test_projects_of_people_do_not_meet_the_one_that_imports_wait_in(client, owner, dataset, load):
    load(many(10))
    assert Project.objects.filter(slug=staging_datasets.PROJECT, memberships=None).exists()
    client.force_login(owner)
    assert client.get(f"/p/{staging_datasets.PROJECT}/").status_code == 404


def test_a_version_is_seen_once_all_of_it_is_there(dataset, load, monkeypatch):
    load([document(f"ex-{number}", expectation=call()) for number in range(10)])
    seen, insert = [], versions._entries_insert

    def watched(*args: Any) -> None:
        insert(*args)
        seen.append((dataset.versions.count(), VersionEntry.objects.count()))

    monkeypatch.setattr(versions, "_entries_insert", watched)
    version = versions.version_freeze(dataset=dataset, actor=None)
    assert seen == [(0, 4), (0, 8), (0, 10)]
    assert (version.number, version.size, version.dataset) == (1, 10, dataset)
    assert list(version.entries.values_list("position", flat=True)) == list(range(10))
    assert versions.version_freeze(dataset=dataset, actor=None) == version
    publish_import.imports_sweep(database_now())
    assert nothing_left()
    assert VersionEntry.objects.count() == 10


def test_one_who_freezes_the_same_meanwhile_gets_the_same_version(dataset, load, monkeypatch):
    load([document(f"ex-{number}", expectation=call()) for number in range(10)])
    insert = versions._entries_insert
    others: list[Any] = []

    def raced(*args: Any) -> None:
        insert(*args)
        if not others:
            others.append(None)
            others.append(versions.version_freeze(dataset=dataset, actor=None))

    monkeypatch.setattr(versions, "_entries_insert", raced)
    assert versions.version_freeze(dataset=dataset, actor=None) == others[1] == dataset.versions.get()
    publish_import.imports_sweep(database_now())
    assert nothing_left()
    assert VersionEntry.objects.count() == 10


def test_a_version_that_a_process_left_half_written_is_swept_once_it_is_old(dataset, load, monkeypatch):
    load([document(f"ex-{number}", expectation=call()) for number in range(10)])
    # As if nothing were run any more after the process has died.
    monkeypatch.setattr(staging_datasets, "waiting_give_up", lambda _: None)
    monkeypatch.setattr(versions, "_show", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        versions.version_freeze(dataset=dataset, actor=None)
    publish_import.imports_sweep(database_now())
    assert VersionEntry.objects.count() == 10
    publish_import.imports_sweep(database_now() + staging_datasets.FROZEN_WITHIN + timedelta(minutes=1))
    assert not VersionEntry.objects.exists()
    assert nothing_left()
