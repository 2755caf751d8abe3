"""Previews of a gate: what it would have said of the newest runs, without deciding anything."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reports.gates.services import gate_preview_start, gate_previews_forget
from reports.models import GatePreview, HeldGate, NamedGate
from tests.reports.building import cases_of
from tests.reports.gate_building import hold, rate
from tests.reports.gate_pages import CELLS, address, decide, sent, writer
from tests.reports.reading import csv_rows, text
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.clock import database_now

__all__ = ["address", "writer"]

pytestmark = pytest.mark.django_db


def test_a_preview_says_what_the_gate_would_have_said(writer, build, address, project):
    runs = [build.grading(cases_of(cells)).run for cells in (CELLS, {("a", "a"): 20})]
    answer = writer.post(address("named-gate-new"), sent(act="preview", **{"bounds-0-min": "0.96"}))
    preview = GatePreview.objects.get()
    assert answer.headers["Location"] == f"{address('named-gate-new')}?preview={preview.pk}#preview"
    decide(preview)
    page = writer.get(f"{address('named-gate-new')}?preview={preview.pk}")
    table = page.context["table"]
    assert table.sentence == "Of the last 2 runs: 1 failed, 1 passed."
    assert [held.run.number for held in table.runs] == sorted((run.number for run in runs), reverse=True)
    (rule,) = table.rules
    assert [cell.row.check.status for cell in rule.cells if cell.row] == ["passed", "failed"]
    failed = table.runs[1]
    assert 'value="0.96"' in text(page)
    # A cell opens the examples, and these their cases.
    opened = writer.get(address("gate-check", failed.pk, 1))
    (example,) = opened.context["examples"]
    assert address("case", failed.run.number, example.now[0][0]) in text(opened)
    rows = csv_rows(writer.get(address("gate-preview-csv", preview.pk)))
    assert [(row["run"], row["status"]) for row in rows] == [
        (str(table.runs[0].run.number), "passed"),
        (str(failed.run.number), "failed"),
    ]
    assert not NamedGate.objects.exists()


def test_a_preview_is_in_no_list_and_decides_nothing(writer, build, address, project):
    run = build.grading(cases_of(CELLS)).run
    preview = gate_preview_start(project=project, actor=None, gate=rate("selection", 0.5))
    decide(preview)
    held = preview.held.get()
    assert held.status == "passed"
    assert not HeldGate.objects.in_project(project).exists()
    assert HeldGate.objects.newest_of(run.experiment) is None
    assert address("gate", held.pk) not in text(writer.get(address("gates")))
    assert "Gate passed" not in text(writer.get(address("run", run.number)))
    later = build.again(run.gradings.get(), [[case] for case in cases_of(CELLS)]).run
    document = rate("selection", 0.5) | {"regressions": [{"rule": "cases", "metrics": ["selection"]}]}
    assert hold(later, document, baseline="last-passing").baseline is None


def test_a_preview_compares_each_run_with_what_came_before_it(build, project):
    one = build.grading(cases_of(CELLS))
    first, second, third = (one.run, *(build.again(one, [[case] for case in cases_of(CELLS)]).run for _ in range(2)))
    document = rate("selection", 0.5) | {"regressions": [{"rule": "cases", "metrics": ["selection"]}]}
    hold(first, rate("selection", 0.5))
    hold(third, rate("selection", 0.5))
    preview = gate_preview_start(project=project, actor=None, gate=document, baseline="last-passing")
    before = {held.run_id: held.baseline and held.baseline.run_id for held in preview.held.select_related("baseline")}
    assert before == {first.pk: None, second.pk: first.pk, third.pk: first.pk}
    decide(preview)
    statuses = dict(preview.held.values_list("run", "status"))
    assert statuses == {first.pk: "unanswered", second.pk: "passed", third.pk: "passed"}


def test_a_preview_needs_a_graded_run_and_goes_after_a_week(build, project):
    with pytest.raises(InvalidDocument, match="no graded run"):
        gate_preview_start(project=project, actor=None, gate=rate("selection", 0.5))
    build.grading(cases_of(CELLS))
    preview = gate_preview_start(project=project, actor=None, gate=rate("selection", 0.5))
    assert gate_previews_forget(database_now()) == 0
    assert gate_previews_forget(database_now() + timedelta(days=8)) == 1
    assert not HeldGate.objects.filter(preview=preview.pk).exists()
