"""Test what decides an example, from the frozen version through a grading to the list of runs."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.datasets.services import dataset_update
from tests.reports.reading import csv_rows
from tests.runs.building import TOOLS, uploaded_run, version_of
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import CaseGrade, Grading, VerdictCount

pytestmark = pytest.mark.django_db


def example(name: str, **more: Any) -> dict[str, Any]:
    expected = {"tool": "get_order_status", "arguments": {"order_id": {"exact": "ORD-1"}}}
    gold = {"kind": "calls", "alternatives": [{"ordered": [expected]}], "answer": {"contains": ["paid"]}}
    shown = {"messages": [{"role": "user", "content": f"Where is {name}?"}]}
    return {"id": name, "input": shown, "tools": TOOLS, "expectation": gold, **more}


def other_call(name: str, answer: str) -> dict[str, Any]:
    """A wrong call, and an answer."""
    call = {"name": "get_order_history", "arguments": {"order_id": "ORD-1"}}
    return {"id": name, "trial": 0, "tool_calls": [call], "answer": answer}


@pytest.fixture
def graded(project, run_jobs):
    """A run of wrong calls: two of three examples are decided by their answers, one of which is right."""
    rows = [example("right", decided_by="answer"), example("wrong", decided_by="answer"), example("calls")]
    version = version_of(project, rows)
    said = [other_call("right", "It is paid."), other_call("wrong", "No idea."), other_call("calls", "It is paid.")]
    run = uploaded_run(project, version, said)
    run_jobs()
    run.refresh_from_db()
    return run


def outcomes(grading: Any) -> list[tuple[Any, ...]]:
    rows = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position")
    names = ("transcript__entry__revision__example__external_id", "outcome", "mode", "selection", "decided_by")
    return list(rows.values_list(*names))


def test_a_case_is_graded_by_what_its_version_says(graded):
    assert outcomes(graded.grading) == [
        ("right", "passed", "", "failed", "answer"),
        ("wrong", "failed", "missing_fact", "failed", "answer"),
        ("calls", "failed", "wrong_tool", "failed", "expected"),
    ]
    counts = VerdictCount.objects.filter(grading=graded.grading, column="decided_by")
    assert dict(counts.values_list("value", "count")) == {"answer": 2, "expected": 1}


def test_the_list_of_runs_says_what_decides(graded, adjudicator, client):
    client.force_login(adjudicator)
    page = client.get("/p/shop/runs/").content.decode()
    assert "Right tool" not in page
    assert "33.3" in page
    assert "answer, something else in 1" in page
    (row,) = csv_rows(client.get("/p/shop/runs.csv"))
    assert (row["passed"], row["scored"], row["decided_by"]) == ("1", "3", "answer expected")
    (listed,) = client.get("/api/v1/projects/shop/runs/").json()["results"]
    assert (listed["outcome"]["passed"], listed["decided_by"]) == (1, ["answer", "expected"])
    overview = client.get("/p/shop/runs/1/").content.decode()
    assert "ecided by answer, something else in 1" in overview
    # Lost at tool selection says nothing where calls do not decide.
    assert "wrong tool selection" not in overview


def test_a_run_is_graded_again_by_what_a_newer_version_says(graded, run_jobs):
    dataset = graded.dataset_version.dataset
    words = {name: getattr(dataset, name) for name in ("name", "description", "guideline", "default_tools")}
    dataset_update(dataset=dataset, actor=None, decided_by="answer", **words)
    version = version_of(graded.project, [])
    grading_start(run=graded, actor=None, dataset_version=version)
    run_jobs()
    newest = Grading.objects.get(run=graded, number=2)
    assert [(name, outcome) for name, outcome, *_ in outcomes(newest)] == [
        ("right", "passed"), ("wrong", "failed"), ("calls", "passed"),
    ]  # fmt: skip
    assert outcomes(graded.grading)[2][1] == "failed"
