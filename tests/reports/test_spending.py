"""Test what a run took, on its page; every end opens its cases."""

from __future__ import annotations

import pytest

from tests.reports.building import Case, cases_of
from tests.reports.reading import csv_rows, text
from toolevals.runs.models import Grading, Transcript
from toolevals.runs.services.transcript_sums import transcript_sums

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
    html = text(get("run", grading))
    assert "Cost and time" in html
    assert "5,000" in html
    # A dollar and a half over three passed cases.
    assert "1.5000" in html
    assert "0.500000" in html
    assert "800 ms" in html
    assert html.index("?ended=answer") < html.index("?ended=loop") < html.index("?ended=unreachable")
    assert "1</span> errored</a>, outside the scores" in html


@pytest.mark.parametrize(("ended", "count"), [("answer", 3), ("loop", 1), ("budget", 0)])
def test_every_end_opens_its_cases(get, grading, ended, count):
    rows = csv_rows(get("cases-csv", grading, ended=ended))
    assert [row["ended"] for row in rows] == [ended] * count
    assert f"ended by <b>{ended}</b>" in text(get("cases", grading, ended=ended))


def test_an_upload_that_tells_nothing_has_no_such_pane(get, build):
    assert "Cost and time" not in text(get("run", build.grading(cases_of({("a", "a"): 3}))))


def test_it_costs_no_query_of_its_own(get, grading, django_assert_max_num_queries):
    get("run", grading)
    with django_assert_max_num_queries(18):
        get("run", grading)
