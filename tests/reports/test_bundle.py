"""The zip of a run: every part says what its page, file and rows say; it is kept for a day."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from reports.dialects.grade_with_dialects import dialects_read
from reports.downloads.bundle_tables import BUNDLED
from reports.downloads.services import BUNDLE, CONTENTS, bundle_write
from tests.access.addresses import addresses
from tests.fixtures.people import person
from tests.reports.building import Builder, cases_of
from tests.runs.reread import read_all, read_run, rereading_made
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.models import CaseGrade, Grading, Rereading
from toolevals.runs.remarks.services import tag_add
from toolevals.runs.rereading.results import case_rows
from toolevals.runs.rereading.services import rereading_cancel
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import job_files_forget
from toolevals.workspace.models import Job, Role
from toolevals.workspace.projects.services import member_set

CELLS = {("get_order", "get_order"): 7, ("get_order", "refund"): 2, ("(none)", "refund"): 1}


@pytest.fixture
def grading(build: Builder) -> Grading:
    return build.grading(cases_of(CELLS), trials=2)


def written(grading: Grading) -> zipfile.ZipFile:
    file = io.BytesIO()
    done: list[int] = []
    bundle_write(grading, file, done.append)
    return zipfile.ZipFile(file)


def rows(bundle: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(bundle.read(name).decode())))


@pytest.mark.database
def test_it_holds_what_it_says_and_every_file_tells_the_same(grading):
    bundle = written(grading)
    assert bundle.testzip() is None
    assert sorted(bundle.namelist()) == sorted(name for name, _ in CONTENTS)
    cases = rows(bundle, "cases.csv")
    verdicts: list[dict[str, Any]] = [json.loads(line) for line in bundle.read("verdicts.jsonl").splitlines()]
    assert len(cases) == CaseGrade.objects.filter(grading=grading).count() == 10
    assert [line["case_id"] for line in verdicts] == [row["case_id"] for row in cases]
    assert [line["grade"]["verdicts"]["outcome"]["status"] for line in verdicts] == [row["outcome"] for row in cases]
    reasons = [
        {name: each["reason"] for name, each in line["grade"]["verdicts"].items() if each.get("reason")}
        for line in verdicts
    ]
    assert [json.loads(row["reasons"] or "{}") for row in cases] == reasons
    first = [next((call["tool"] for call in json.loads(row["expected_calls"])), NONE) for row in cases]
    assert first == [row["expected"] for row in cases]
    assert sum(int(row["count"]) for row in rows(bundle, "matrix.csv")) == len(cases)
    assert {(row["expected"], row["actual"]): int(row["count"]) for row in rows(bundle, "matrix.csv")} == CELLS
    gold = [json.loads(line)["id"] for line in bundle.read("gold.jsonl").splitlines()]
    assert len(gold) == grading.dataset_version.size
    assert {row["external_id"] for row in cases} <= set(gold)
    assert json.loads(bundle.read("run.json"))["run"] == grading.run.number


# Files of a run that are not in the zip by themselves, and why.
ELSEWHERE = {"failing.csv": "the failed lines of verdicts.jsonl"}
OF_A_RUN = re.compile(r"p/<slug:project>/runs/<int:number>/([^/]+\.csv)")


def test_no_table_of_a_run_is_forgotten(grading):
    """Whatever file of a run there is an address for, the zip holds one that is the same to the last byte."""
    offered = {found[1]: address.name for address in addresses() if (found := OF_A_RUN.fullmatch(address.route))}
    assert len(offered) > 20
    bundle = written(grading)
    assert {*offered} - {*ELSEWHERE} == {name for name in bundle.namelist() if name.endswith(".csv")} - {
        "matrix-aligned.csv",
        "re-readings.csv",
    }


def test_its_tables_are_the_files_of_the_pages(grading, get, viewer):
    dialects_read(grading)
    tag_add(transcript=grading.cases.order_by("pk")[0].transcript, actor=viewer, tag="odd")
    bundle = written(grading)
    differ = []
    # Of each re-reading by itself there is a page; see below.
    for name in BUNDLED.keys() - {"re-readings.csv"}:
        if name == "matrix-aligned.csv":
            page = get("matrix-csv", grading, view="aligned")
        else:
            page = get("run-gates-csv" if name == "gates.csv" else name.replace(".csv", "-csv"), grading)
        if bundle.read(name) != b"".join(page.streaming_content):
            differ.append(name)
    assert differ == []


def test_its_re_readings_are_those_that_are_closed_without_names(project, run_jobs):
    run = read_run(project, run_jobs)
    grading, reader = run.grading, person("reader")
    member_set(project=project, actor=None, user=reader, role=Role.REVIEWER)
    assert rows(written(grading), "re-readings.csv") == []
    first = rereading_made(run)
    read_all(first, reader, note="Looked twice.", most=1)
    assert rows(written(grading), "re-readings.csv") == []
    read_all(first, reader)
    first.refresh_from_db()
    second = rereading_made(run)
    lines = rows(written(grading), "re-readings.csv")
    assert [line["case_id"] for line in lines] == [str(case.pk) for case in case_rows(first)]
    assert {(line["rereading_id"], line["reader"], line["is_own"]) for line in lines} == {(str(first.pk), "", "")}
    assert [line["note"] for line in lines].count("Looked twice.") == 1
    assert {line["said"] for line in lines} == {"right", "wrong"}
    read_all(second, reader)
    second.refresh_from_db()
    both = rows(written(grading), "re-readings.csv")
    assert [line["rereading_id"] for line in both] == [str(second.pk)] * len(lines) + [str(first.pk)] * len(lines)
    assert both[len(lines) :] == lines
    rereading_made(run)
    rereading_cancel(rereading=Rereading.objects.get(closed_at=None), actor=None)
    assert rows(written(grading), "re-readings.csv") == both


def test_other_tools_verdicts_are_left_out_until_they_are_known(grading, monkeypatch):
    monkeypatch.setattr("reports.dialects.grade_with_dialects.READ_AT_ONCE", 1)
    names = written(grading).namelist()
    assert [name for name in names if name.startswith("dialect")] == []
    assert len(names) == len(CONTENTS) - 4


def test_a_worker_is_heard_of_while_tables_are_written(grading, monkeypatch):
    monkeypatch.setattr("reports.downloads.services.SILENT", -1)
    done: list[int] = []
    bundle_write(grading, io.BytesIO(), done.append)
    assert len(done) > len(BUNDLED)
    assert set(done) == {0}


def test_a_job_writes_it_and_a_day_later_it_is_gone(grading, browser_of, run_jobs):
    address = reverse("reports:bundle", args=[grading.run.project.slug, grading.run.number])
    assert "verdicts.jsonl" in browser_of.get(address).content.decode()
    started = browser_of.post(address)
    run_jobs()
    job = Job.objects.get(kind=BUNDLE)
    file = reverse("reports:bundle-file", args=[grading.run.project.slug, grading.run.number, job.pk])
    assert file in browser_of.get(started.url).content.decode()
    sent = browser_of.get(file)
    assert zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))).testzip() is None
    assert job_files_forget(database_now() + timedelta(days=1, minutes=1)) == 1
    assert browser_of.get(file).status_code == 410
    assert "is gone" in browser_of.get(started.url).content.decode()
