"""The gates of one run, as a section of the run."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.reports.building import cases_of
from tests.reports.gate_building import hold, rate
from tests.reports.reading import csv_rows, table, text

pytestmark = pytest.mark.django_db
CELLS = {("a", "a"): 19, ("a", "b"): 1}


def test_a_run_opens_its_gates_and_no_other_runs(get, build):
    grading = build.grading(cases_of(CELLS))
    failed = hold(grading.run, rate("selection", 0.96), branch="main<b>")
    passed = hold(grading.run, rate("selection", 0.9))
    other = hold(build.grading(cases_of(CELLS)).run, rate("selection", 0.9))
    page = get("run-gates", grading)
    html = text(page)
    assert "Checked by 2 gates: 1 failed, 1 passed." in html
    assert [row[0] for row in table(page, "table-te")[1:]] == ["passed", "failed"]
    for held, shown in ((failed, True), (passed, True), (other, False)):
        assert (reverse("reports:gate", args=[grading.run.project.slug, held.pk]) in html) == shown
    assert "main&lt;b&gt;" in html
    rows = csv_rows(get("run-gates-csv", grading))
    assert [row["gate_id"] for row in rows] == [str(passed.pk), str(failed.pk)]


def test_the_page_of_a_run_shows_its_newest_gate(get, build):
    grading = build.grading(cases_of(CELLS))
    assert "Gate passed" not in text(get("run", grading))
    hold(grading.run, rate("selection", 0.9))
    assert "Gate passed<" in text(get("run", grading))
    failed = hold(grading.run, rate("selection", 0.96))
    html = text(get("run", grading))
    assert failed.outcome is not None
    assert f"Gate failed: {failed.outcome.checks[0].name}<" in html
    assert reverse("reports:gate", args=[grading.run.project.slug, failed.pk]) in html


def test_every_page_of_a_run_leads_there(get, build):
    grading = build.grading(cases_of(CELLS))
    address = reverse("reports:run-gates", args=[grading.run.project.slug, grading.run.number])
    for name in ("run", "matrix", "cases", "run-gates"):
        assert f'href="{address}"' in text(get(name, grading))


def test_a_run_without_gates_says_so(get, build):
    html = text(get("run-gates", build.grading(cases_of(CELLS))))
    assert "No gate has checked this run yet" in html
    assert "toolevals gate --run 1" in html


def test_it_costs_the_same_however_many_gates(get, build, django_assert_max_num_queries):
    grading = build.grading(cases_of(CELLS))
    for _ in range(4):
        hold(grading.run, rate("selection", 0.9))
    get("run-gates", grading)
    with django_assert_max_num_queries(10):
        get("run-gates", grading)
