"""Long tables are written by a job, kept for a day for whoever asked, and are what is streamed to the last byte."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reports.downloads.long_tables import TABLES, TableRequest
from reports.downloads.services import TABLE, table_start, table_work
from tests.reports.building import Builder, Case, cases_of
from toolevals.runs.models import Episode, Grading, JudgedCase
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import job_files_forget
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.jobs.services import job_cancel
from toolevals.workspace.models import Job, Upload

CELLS = {("get_order", "get_order"): 7, ("get_order", "refund"): 4, ("(none)", "refund"): 1}


@pytest.fixture
def grading(build: Builder) -> Grading:
    return build.grading(cases_of(CELLS), trials=2)


@pytest.fixture(autouse=True)
def _few_at_once(settings: Any) -> None:
    settings.CSV_ROWS_AT_ONCE = 3


def numbers(grading: Grading) -> list[Any]:
    return [grading.run.project.slug, grading.run.number]


def bytes_of(response: Any) -> bytes:
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def written(browser: Client, response: Any, run_jobs: Callable[[], Any]) -> bytes:
    """Follow a download that is too long to the file."""
    assert response.status_code == 302
    page = browser.get(response.url)
    assert "Write the file" in page.content.decode()
    started: Any = browser.post(response.url)
    run_jobs()
    job = Job.objects.get(kind=TABLE)
    name = response.url.partition("/files/")[2].partition("/")[0]
    file = reverse("reports:table-file", args=[job.project.slug, page.context["run"].number, name, job.pk])
    assert file in browser.get(started.url).content.decode()
    assert job.report["bytes"] == Upload.objects.get(pk=job.report["upload"]).size
    assert job.batches.get().done <= job.batches.get().size
    return bytes_of(browser.get(file))


@pytest.mark.database
@pytest.mark.parametrize("filters", [{}, {"expected": "get_order"}, {"outcome": "passed"}, {"trial": "1"}])
def test_a_long_table_is_what_is_streamed(grading, get, browser_of, run_jobs, filters):
    streamed = bytes_of(get("cases-csv", grading, now="1", **filters))
    assert streamed.count(b"\r\n") > 4
    assert written(browser_of, get("cases-csv", grading, **filters), run_jobs) == streamed


def test_every_kind_is_written_as_it_is_streamed(grading, get, browser_of, run_jobs):
    case = grading.cases.earliest("pk")
    for number in range(4):
        Episode.objects.create(
            grading=grading,
            case=case,
            number=number,
            tool="refund",
            error_class="timeout",
            reaction="none",
            score=0,
            recovered=False,
            failures=1,
            errors=1,
            identical_retries=0,
        )
    for name in ("trials", "episodes"):
        Job.objects.all().delete()
        streamed = bytes_of(get(f"{name}-csv", grading, now="1"))
        assert streamed.count(b"\r\n") > 4
        assert written(browser_of, get(f"{name}-csv", grading), run_jobs) == streamed


def test_lists_of_two_runs_too(build, get, browser_of, run_jobs):
    before = build.grading([Case("a", "a")] * 8)
    after = build.again(before, [[Case("a", "b")]] * 7 + [[Case("a", "a")]])
    streamed = bytes_of(get("compare-cases-csv", before, after.run.number, now="1", how="broken"))
    assert streamed.count(b"\r\n") == 1 + 7 * 2
    long = get("compare-cases-csv", before, after.run.number, how="broken")
    assert written(browser_of, long, run_jobs) == streamed


def test_every_table_says_how_long_it_is(grading):
    for name in ("cases", "trials", "judged", "state", "episodes"):
        asked = TableRequest(name, grading, {})
        assert asked.count() == len(list(asked.rows()))
        assert asked.is_long == (asked.count() > 3)
    assert set(TABLES) == {"cases", "trials", "judged", "state", "episodes", "compare-cases"}


def test_a_short_one_is_sent_at_once(grading, get):
    assert bytes_of(get("cases-csv", grading, expected="(none)")).count(b"\r\n") == 2
    assert bytes_of(get("judged-csv", grading)).count(b"\r\n") == 1
    assert not JudgedCase.objects.exists()


def test_only_who_asked_and_owners_get_it_and_a_day_later_it_is_gone(
    grading, browser_of, viewer, owner, reviewer, run_jobs
):
    job = table_start(table_request=TableRequest("cases", grading, {}), actor=viewer)
    run_jobs()
    file = reverse("reports:table-file", args=[*numbers(grading), "cases", job.pk])
    found = {}
    for person in (viewer, reviewer, owner):
        browser_of.force_login(person)
        found[person.email] = browser_of.get(file).status_code, browser_of.get(job.result_path).status_code
    assert list(found.values()) == [(200, 200), (404, 404), (200, 200)]
    assert job_files_forget(database_now() + timedelta(days=1, minutes=1)) == 1
    assert browser_of.get(file).status_code == 410
    assert "has expired" in browser_of.get(job.result_path).content.decode()


def test_a_cancelled_job_leaves_nothing(grading, viewer, run_jobs):
    job = table_start(table_request=TableRequest("cases", grading, {}), actor=viewer)
    job_cancel(job=job, actor=viewer)
    run_jobs()
    assert not Upload.objects.exists()


def test_a_worker_that_dies_is_followed_by_one_that_writes_all_of_it(grading, viewer, get, run_jobs, monkeypatch):
    job = table_start(table_request=TableRequest("cases", grading, {}), actor=viewer)
    rows, deaths = TableRequest.rows, [KeyboardInterrupt()]

    def dying(asked: TableRequest) -> Any:
        for number, row in enumerate(rows(asked)):
            if number == 5 and deaths:
                raise deaths.pop()
            yield row

    monkeypatch.setattr(TableRequest, "rows", dying)
    batch = job.batches.get()
    with pytest.raises(KeyboardInterrupt):
        batch_work(str(batch.pk), table_work)
    assert not Upload.objects.exists()
    job.batches.update(due_at=database_now() - timedelta(seconds=1))
    run_jobs(impatient=True)
    upload = Upload.objects.get()
    with upload.file.open("rb") as file:
        assert file.read() == bytes_of(get("cases-csv", grading, now="1"))


def test_by_rest_a_job_writes_it_and_its_file_is_fetched(grading, browser_of, run_jobs, get):
    address = reverse("reports-api:table", args=[*numbers(grading), "cases"])
    started = browser_of.post(f"{address}?expected=get_order")
    assert started.status_code == 202
    run_jobs()
    file = browser_of.get(reverse("reports-api:table-file", args=[grading.run.project.slug, started.json()["id"]]))
    assert bytes_of(file) == bytes_of(get("cases-csv", grading, now="1", expected="get_order"))
    assert browser_of.post(address.replace("/cases/", "/nothing/")).status_code == 404
    assert browser_of.post(address.replace("/cases/", "/compare-cases/")).status_code == 404


def test_the_end_of_a_page_is_found_in_the_index_alone(grading, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr("reports.cases.queries.KEYSET_PAGE", 5)
    with django_assert_max_num_queries(100) as asked:
        assert len(list(TableRequest("cases", grading, {}).rows())) == 12
    ends = [query["sql"] for query in asked.captured_queries if "OFFSET" in query["sql"]]
    assert len(ends) == 3
    assert not any("JOIN" in sql for sql in ends)


def test_progress_is_told_in_rows(grading, viewer, monkeypatch):
    told: list[int] = []
    monkeypatch.setattr("reports.downloads.services._ROWS", 6)
    job = table_start(table_request=TableRequest("cases", grading, {}), actor=viewer)
    monkeypatch.setattr("toolevals.workspace.jobs.leases.Lease.progress", lambda _, done: told.append(done))
    batch_work(str(job.batches.get().pk), table_work)
    assert told == [6, 12]
