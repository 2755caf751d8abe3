"""Test what a run took, on its page; every end opens its cases."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.reports.building import Case, cases_of
from tests.reports.reading import csv_rows, table, text
from toolevals.runs.aggregates.transcript_sums import transcript_sums
from toolevals.runs.models import Grading, Transcript

pytestmark = pytest.mark.django_db


@pytest.fixture
def grading(build):
    found = build.grading([*cases_of({("a", "a"): 3, ("a", "b"): 1}), Case("a", "a", status="errored")])
    rows = list(Transcript.objects.filter(run=found.run).order_by("pk"))
    for row, ended in zip(rows, ["answer", "answer", "answer", "loop", "unreachable"], strict=True):
        row.ended, row.model, row.cost, row.tokens_in, row.tokens_out, row.latency_ms = (
            ended,
            "m-1",
            0.3,
            1000,
            50,
            800.0,
        )
    Transcript.objects.bulk_update(rows, ["ended", "model", "cost", "tokens_in", "tokens_out", "latency_ms"])
    Grading.objects.filter(pk=found.pk).update(spending=transcript_sums(found.run).spending())
    return found


def test_the_page_says_what_it_took(get, grading):
    run = text(get("run", grading))
    for figure in ("5,000", "1.5000", "0.500000", "800"):
        assert figure in run
    assert "1</span> errored</a>, not counted in the scores" in run
    html = text(get("spending", grading))
    assert "Cost and time" in html
    assert "5,000" in html
    # A dollar and a half over three passed cases.
    assert "1.5000" in html
    assert "0.500000" in html
    assert "800 ms" in html
    assert html.index("?ended=answer") < html.index("?ended=loop") < html.index("?ended=unreachable")


@pytest.mark.parametrize(("ended", "count"), [("answer", 3), ("loop", 1), ("budget", 0)])
def test_every_end_opens_its_cases(get, grading, ended, count):
    rows = csv_rows(get("cases-csv", grading, ended=ended))
    assert [row["ended"] for row in rows] == [ended] * count
    assert f"ended by <b>{ended}</b>" in text(get("cases", grading, ended=ended))


def test_an_upload_that_tells_nothing_has_no_such_pane(get, build):
    assert "Cost and time" not in text(get("spending", build.grading(cases_of({("a", "a"): 3}))))


def test_it_costs_no_query_of_its_own(get, grading, django_assert_max_num_queries):
    get("run", grading)
    with django_assert_max_num_queries(18):
        get("run", grading)


def test_the_lists_of_runs_and_the_trends_say_what_a_case_takes(get, browser_of, build, grading):
    project, run = grading.run.project, grading.run
    build.grading(cases_of({("a", "a"): 3}))
    page = text(browser_of.get(reverse("runs:runs", args=[project.slug])))
    assert "Money a case" in page
    cells = ["0.3", "1050", "800"]
    told = ("cost_of_case", "tokens_of_case", "latency_p95")
    first = {row["run"]: row for row in csv_rows(browser_of.get(reverse("runs:runs-csv", args=[project.slug])))}
    assert [float(first[str(run.number)][name]) for name in told] == [pytest.approx(0.3), 1050, 800]
    assert [row[name] for row in first.values() for name in told if row["run"] != str(run.number)] == [""] * 3
    listed = browser_of.get(reverse("runs-api:runs", args=[project.slug])).json()["results"]
    assert [row["tokens_of_case"] for row in listed] == [None, 1050]
    slug = run.experiment.slug
    trends = browser_of.get(reverse("reports:trends", args=[project.slug, slug]))
    (_, row) = table(trends, "trend-spent")
    assert row[1:4] == cells
    rates = csv_rows(browser_of.get(reverse("reports:trends-csv", args=[project.slug, slug])))
    assert {row["tokens_of_case"] for row in rates if row["run"] == str(run.number)} == {"1050.0"}
    said = browser_of.get(reverse("reports-api:trends", args=[project.slug, slug])).json()["runs"]
    assert [each["latency_p95"] for each in said if each["run"] == run.number] == [800]


def test_a_project_whose_runs_say_nothing_has_no_such_columns(browser_of, build):
    run = build.grading(cases_of({("a", "a"): 3})).run
    assert "Money a case" not in text(browser_of.get(reverse("runs:runs", args=[run.project.slug])))
