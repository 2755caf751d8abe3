"""More than was due: which cells, what they cost and what they give away, worked by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from reports.analyses.overreach import NEEDLESS, OVER_TOOLING, overreach_of
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, text
from toolevals.grading.values import ToolSpec
from toolevals.grading.verdicts import NONE, UNKNOWN_TOOL

SPECS = {
    "status": (ToolSpec("status", "", {}, cost=1.0, sensitive_output=("/name",)),),
    "customer": (ToolSpec("customer", "", {}, cost=3.5, sensitive_output=("/name", "/address", "/card")),),
    "weather": (ToolSpec("weather", "", {}),),
}
COUNTS = {
    ("status", "status"): 9,
    ("status", "customer"): 4,
    ("customer", "status"): 2,
    ("weather", "customer"): 1,
    (NONE, "status"): 3,
    (NONE, "weather"): 1,
    ("status", UNKNOWN_TOOL): 5,
    ("status", NONE): 6,
}


def test_cells_are_those_that_reach_further_or_were_not_due():
    found = overreach_of(COUNTS, SPECS)
    assert [(row.expected, row.actual, row.count, row.kind, row.exposed, row.extra) for row in found.rows] == [
        ("status", "customer", 4, OVER_TOOLING, ("/address", "/card"), Decimal("2.5")),
        (NONE, "status", 3, NEEDLESS, ("/name",), Decimal("1.0")),
        (NONE, "weather", 1, NEEDLESS, (), None),
        ("weather", "customer", 1, OVER_TOOLING, ("/address", "/card", "/name"), None),
    ]
    assert (found.calls, found.exposing, found.extra) == (9, 8, Decimal("13.0"))


def test_without_specs_nothing_is_said():
    found = overreach_of(COUNTS, {})
    assert (found.rows, found.calls, found.extra) == ((), 0, None)


@given(st.dictionaries(st.tuples(st.sampled_from([*SPECS, NONE]), st.sampled_from([*SPECS, NONE])), st.integers(1, 9)))
def test_of_two_tools_at_most_one_reaches_further(counts):
    rows = {(row.expected, row.actual) for row in overreach_of(counts, SPECS).rows}
    assert not any((actual, expected) in rows for expected, actual in rows)
    assert all(row.count == counts[row.expected, row.actual] for row in overreach_of(counts, SPECS).rows)


@pytest.mark.database
def test_page_file_and_interface_say_the_same(build, get, browser_of):
    grading = build.grading(cases_of({("a", "a"): 3, (NONE, "a"): 2, (NONE, "b"): 1}))
    written = csv_rows(get("overreach-csv", grading))
    address = reverse("reports-api:overreach", args=[grading.run.project.slug, grading.run.number])
    said = browser_of.get(address).json()
    assert [(row["expected"], row["actual"], int(row["calls"])) for row in written] == [(NONE, "a", 2), (NONE, "b", 1)]
    assert [(row["expected"], row["actual"], row["calls"]) for row in said["rows"]] == [(NONE, "a", 2), (NONE, "b", 1)]
    assert said["calls"] == 3
    assert "More than was due" in text(get("run", grading))
