"""Test what calls left behind: on a case's page and as a file."""

from __future__ import annotations

from typing import Any

import pytest

from reports.cases.analysis import compared_state
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, table, text

pytestmark = pytest.mark.django_db
EXECUTION: dict[str, Any] = {
    "wrong": [
        {"kind": "wrong", "path": "/orders/W1/status", "record": "/orders/W1", "expected": "sent", "actual": "<b>lost"}
    ],
    "missing": [{"kind": "missing", "path": "/refunds/R1", "record": "/refunds/R1", "expected": {"amount": 45}}],
    "polluted": [
        {"kind": "polluted", "path": "/orders/W1/flags/0", "record": "/orders/W1", "actual": "seen"},
        {"kind": "polluted", "path": "/users", "record": "/users", "expected_cut": '{"u1":', "actual": None},
    ],
    "more": {"polluted": 1200},
}


@pytest.fixture
def case(build: Any) -> Any:
    grading = build.grading(cases_of({("a", "a"): 2}))
    case = grading.cases.order_by("pk")[0]
    case.execution = "failed"
    case.detail["verdicts"]["execution"] = {"status": "failed", "value": 0, "reason": "Another state."}
    case.detail["details"] = {"execution": EXECUTION}
    case.save()
    return case


def test_the_page_shows_each_record_with_what_is_wrong_missing_and_polluted(get, case):
    page = get("case", case.grading, case.pk)
    html = text(page)
    assert "End state" in html
    assert "1,200 more not shown" in html
    assert table(page, "state-table")[1:] == [
        ["orders.W1"],
        ["status", '"sent"', '"<b>lost"', "wrong"],
        ["flags[0]", "not expected", '"seen"', "polluted"],
        ["refunds.R1"],
        ["whole record", '{"amount": 45}', "absent", "missing"],
        ["users"],
        ["whole record", '{"u1":', "null", "polluted"],
    ]


def test_a_case_without_differences_has_no_such_part(get, case):
    other = case.grading.cases.exclude(pk=case.pk).get()
    assert "End state" not in text(get("case", case.grading, other.pk))
    assert compared_state({}).records == ()


def test_every_difference_of_the_run_is_a_row_of_the_file(get, case):
    rows = csv_rows(get("state-csv", case.grading))
    assert [(row["kind"], row["record"], row["path"], row["expected"], row["actual"]) for row in rows] == [
        ("wrong", "/orders/W1", "/orders/W1/status", '"sent"', '"<b>lost"'),
        ("missing", "/refunds/R1", "/refunds/R1", '{"amount": 45}', ""),
        ("polluted", "/orders/W1", "/orders/W1/flags/0", "", '"seen"'),
        ("polluted", "/users", "/users", '{"u1":', "null"),
    ]
    assert {row["case_id"] for row in rows} == {str(case.pk)}
