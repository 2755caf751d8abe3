"""Files of other evaluation tools as predictions: joined by id or by what the user says, or refused as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs.building import cases_of, uploaded_run, version_of
from toolevals.runs.models import Run, Transcript
from toolevals.workspace.models import JobState

pytestmark = pytest.mark.django_db
DATA = Path(__file__).parents[1] / "grading" / "files" / "evaluation_files" / "data"
TOOLS = [{"name": "get_order_status", "input_schema": {"type": "object"}}]


def asked(name: str, question: str) -> dict[str, object]:
    messages = [{"role": "user", "content": question}]
    expected = "get_order_status" if "ORD" in question else None
    return {"id": name, "input": {"messages": messages}, "tools": TOOLS, "expected_tool": expected}


@pytest.mark.parametrize(("file", "names"), [("promptfoo_results.json", ("a", "b")), ("inspect.json", ("order", "b"))])
def test_trials_are_joined_by_id_or_by_what_the_user_says(project, run_jobs, file, names):
    version = version_of(project, [asked(names[0], "where is  ORD-9182?"), asked(names[1], "Good morning!")])
    run = uploaded_run(project, version, (DATA / file).read_bytes())

    run_jobs()

    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED, run.job.report
    assert run.job.report["predictions"] == 2
    said = run.job.report["read"]
    (read,) = said["formats"]
    assert (bool(read["name"]), bool(read["why"]), read["count"], bool(said["losses"])) == (True, True, 2, True)
    assert said["warning_count"] == len(said["warnings"]) > 0
    assert not {"read_as", "warnings", "warning_count"} & run.job.report.keys()
    cases = cases_of(run.grading)
    assert {name: case.actual for (name, _), case in cases.items()} == {
        names[0]: "get_order_status",
        names[1]: "(none)",
    }


def test_what_joins_nothing_refuses_the_whole_file(project, run_jobs):
    version = version_of(project, [asked("a", "Where is ORD-9182?"), asked("b", "Where is ORD-9182?")])
    run = uploaded_run(project, version, (DATA / "promptfoo_results.json").read_bytes())

    run_jobs()

    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert not Run.with_trash.exists()
    assert not Transcript.objects.exists()
    messages = sorted(error["message"] for error in run.job.report["errors"])
    assert messages[0].startswith("no example in this version has the id promptfoo-")
    assert messages[1] == "several examples of this version have the same text, and its id is not one of theirs"
    assert all(error["pointer"].startswith("/results/results/") for error in run.job.report["errors"])


def test_a_run_of_langsmith_is_no_row_of_our_own_form_though_it_has_an_id_and_an_error(project, run_jobs):
    version = version_of(project, [asked("a", "Where is ORD-9182?")])
    rows = [json.loads(line) for line in (DATA / "langsmith_runs.jsonl").read_text().splitlines()]
    run = uploaded_run(project, version, [row | {"error": None, "messages": None} for row in rows])

    run_jobs()

    run.refresh_from_db()
    assert run.job.report["predictions"] == 1, run.job.report
    assert {case.actual for case in cases_of(run.grading).values()} == {"get_order_status"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps({"results": [{"reply": 1}]}).encode(), "has an unknown format: it has results"),
        ((DATA / "pydantic_evals.yaml").read_bytes(), "It holds no predictions: import it into a dataset"),
    ],
)
def test_a_file_without_predictions_is_refused(project, version, run_jobs, content, words):
    run = uploaded_run(project, version, content)

    run_jobs()

    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert words in run.job.report["errors"][0]["message"]
