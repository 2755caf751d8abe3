"""Test which parameter fails how: counts are the cases behind them, alike on the page, in the file and by REST."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.urls import reverse

from reports.run.findings import KINDS
from tests.reports.building import Case
from tests.reports.reading import csv_rows, text
from tests.runs.building import HISTORY, REFUND, STATUS, call, silence, uploaded_run, version_of
from toolevals.runs.models import ArgumentFault, Grading

# By example and trial, so that each of three tools is called with right and wrong arguments.
MADE = [
    call("status", STATUS),
    call("status", STATUS, 1, order_id="ORD-2"),
    call("history", HISTORY, order_id="ORD-2", note="x"),
    call("history", HISTORY, 1, note="x"),
    call("refund", REFUND, order_id=5),
    call("refund", STATUS, 1, order_id="ORD-2"),
    silence("hello"),
    call("hello", REFUND, 1, order_id=5),
]
# Wrong arguments of calls to the right tool; and what breaks a schema, of any call.
EXPECTED = {
    (STATUS, "order_id"): {"calls": "2", "wrong": "1", "changed": "1"},
    (HISTORY, "order_id"): {"calls": "2", "wrong": "2", "changed": "1", "missing": "1"},
    (HISTORY, "note"): {"calls": "2", "wrong": "2", "extra": "2"},
    (HISTORY, ""): {"calls": "2", "wrong": "0", "invalid": "1"},
    (REFUND, "order_id"): {"calls": "1", "wrong": "1", "changed": "1", "invalid": "2"},
}


@pytest.fixture
def grading(project, run_jobs) -> Grading:
    run = uploaded_run(project, version_of(project), MADE, trials=2)
    run_jobs()
    return Grading.objects.select_related("run__project").get(run=run)


def expected(row: tuple[str, str]) -> dict[str, str]:
    return dict.fromkeys(KINDS, "0") | EXPECTED[row]


@pytest.mark.database
def test_the_file_says_which_parameter_is_wrong_how_often(grading, get):
    rows = csv_rows(get("arguments-csv", grading))
    assert {(row["tool"], row["argument"]) for row in rows} == set(EXPECTED)
    for row in rows:
        assert {name: row[name] for name in ("calls", "wrong", *KINDS)} == expected((row["tool"], row["argument"]))
    assert [int(row["wrong"]) for row in rows] == sorted((int(row["wrong"]) for row in rows), reverse=True)


def test_the_interface_says_the_same(grading, get, browser_of):
    address = reverse("reports-api:arguments", args=[grading.run.project.slug, grading.run.number])
    said: list[dict[str, Any]] = browser_of.get(address).json()
    for row, written in zip(said, csv_rows(get("arguments-csv", grading)), strict=True):
        assert (row["tool"], row["argument"]) == (written["tool"], written["argument"])
        assert {kind: str(count) for kind, count in row["counts"].items()} == {kind: written[kind] for kind in KINDS}
        assert [str(row["wrong"][name] or "") for name in ("value", "low", "high")] == [
            "" if written[name] == "0.0" else written[name]
            for name in ("wrong_share", "wrong_share_low", "wrong_share_high")
        ]
    assert [row["tool"] for row in browser_of.get(address, {"tool": STATUS}).json()] == [STATUS]


def test_every_count_opens_to_as_many_cases(grading, get):
    page = get("arguments", grading).context
    faults = Counter(ArgumentFault.objects.filter(grading=grading).values_list("tool", "argument", "kind"))
    assert sum(faults.values()) == sum(count for row, _ in page["rows"] for count in row.counts.values())
    for row, cells in page["rows"]:
        for kind, (count, query) in zip(KINDS, cells, strict=True):
            assert count == faults[row.tool, row.argument, kind]
            opened = get("cases", grading, fault=kind, tool=row.tool, parameter=row.argument)
            assert opened.context["count"] == count
            assert bool(query) == bool(count)
    assert get("cases", grading, fault="nonsense", tool=STATUS).context["count"] == len(MADE)


def test_a_grading_from_before_says_so(grading, get):
    grading.argument_counts.all().delete()
    assert "Re-grade the run" in get("arguments", grading).content.decode()


def test_the_page_opens_with_the_parameter_that_is_wrong_most_often(grading, get):
    page = get("arguments", grading)
    worst = page.context["rows"][0][0]
    html = text(page)
    assert f'{worst.name}</span> of <span class="mono">{worst.tool}</span> is wrong most often.' in html
    assert f"{worst.wrong.passed} of {worst.wrong.total}</b> calls to the right tool" in html


def test_where_nothing_was_compared_no_argument_is_said_to_be_right(build, get):
    html = text(get("arguments", build.grading([Case("a", "b") for _ in range(3)])))
    assert "No arguments were compared" in html
    assert "wrong most often" not in html
