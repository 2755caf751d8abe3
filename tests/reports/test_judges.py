"""What judges say, on the pages of a run and in its files."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.chat_server import chat_server
from tests.agents.judges import MODEL, judging
from tests.reports.reading import csv_rows, text
from tests.runs.building import cases_of
from tests.runs.judged import judge_of, judged_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded(project: Any, run_jobs: Any, settings: Any) -> Any:
    """A grading with two judges: one on a snapshot, one on an alias."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    with chat_server(judging(lambda inputs: {"score": 1 if "criteria" in inputs else 0.5})) as server:
        judge_of(project, server, prices={"input": 1, "output": 10})
        judge_of(project, server, "natural_language", model="judge-large", allow_alias=True)
        run = judged_run(project)
        run_jobs()
    run.refresh_from_db()
    return run.grading


def test_a_run_shows_who_judged_by_what_and_how_often(get, graded):
    html = text(get("run", graded))
    assert "What judges say" in html
    for shown in ("Argument semantics", MODEL, "judge-large", "alias", "0.750"):
        assert shown in html
    assert "column=judged:argument_semantics&amp;status=failed" in html


def test_without_judges_a_run_says_nothing_of_them(get, build):
    html = text(get("run", build.grading([])))
    assert "What judges say" not in html


def test_a_judges_number_opens_down_to_its_cases(get, graded):
    html = text(get("cases", graded, column="judged:argument_semantics", status="failed"))
    assert '<span class="num">1</span> case' in html
    assert "differs" in html
    assert "<option selected>judged:argument_semantics</option>" in html


def test_a_case_shows_each_judges_verdict_with_model_and_reason(get, graded):
    case = cases_of(graded)["worded", 0]
    html = text(get("case", graded, case.pk))
    assert "As the rubric says." in html
    assert "judge-large" in html
    assert "alias" in html


def test_the_files_hold_judges_and_their_verdicts(get, graded):
    judges = csv_rows(get("judges-csv", graded))
    assert [(row["rubric"], row["model"], row["pinned"], row["mean"]) for row in judges] == [
        ("argument_semantics", MODEL, "true", "0.75"),
        ("natural_language", "judge-large", "false", "1.0"),
    ]
    judged = csv_rows(get("judged-csv", graded))
    assert len(judged) == 10
    (row,) = [row for row in judged if row["status"] == "failed"]
    assert (row["external_id"], row["value"], row["reason"]) == ("differs", "0.5", "As the rubric says.")
