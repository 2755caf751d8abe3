from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from tests.runs.building import HISTORY, STATUS, call, cases_of, jsonl, silence, stored, uploaded_run
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.files import evaluation_files
from toolevals.runs.models import CaseGrade, Grading, Run, Transcript
from toolevals.runs.runs.services import run_upload
from toolevals.workspace.jobs.services import job_retry
from toolevals.workspace.models import AuditEntry, JobState

pytestmark = pytest.mark.django_db

GOOD = [call("status", HISTORY), call("history", HISTORY), call("refund", "delete_all"), silence("hello")]


def refused(run: Any, run_jobs: Callable[..., int]) -> Any:
    """Run the job, check that nothing is left of the file and no run of it, and return the errors."""
    run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    for rows in (Run.with_trash, Transcript.objects, CaseGrade.objects, Grading.objects):
        assert not rows.exists()
    assert AuditEntry.objects.get(verb="run_refuse").detail == {"number": run.number}
    return run.job.report["errors"]


def test_predictions_become_grades(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)

    run_jobs()

    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert run.job.report == {"predictions": 4, "missing": 0}
    cases = cases_of(run.grading)
    assert {name: (case.actual, case.mode) for (name, _), case in cases.items()} == {
        "status": (HISTORY, "wrong_tool"),
        "history": (HISTORY, ""),
        "refund": ("(unknown tool)", "hallucinated_tool"),
        "hello": ("(none)", ""),
    }


def test_a_run_says_what_its_file_was_read_from_and_what_was_left_out(as_viewer, project, version, run_jobs):
    said = [{"type": "thinking", "thinking": ""}, {"type": "tool_use", "id": "1", "name": HISTORY, "input": {}}]
    row = {"id": "history", "messages": [{"role": "assistant", "content": said, "<b>odd</b>": 1}]}
    run = uploaded_run(project, version, [GOOD[0], row, *GOOD[2:]])

    run_jobs()

    run.refresh_from_db()
    read = run.job.report["read"]
    assert [(each["name"], each["count"]) for each in read["formats"]] == [("anthropic", 1)]
    assert [(each["what"], each["where"], each["count"], each["known"]) for each in read["losses"]] == [
        ("unknown key <b>odd</b>", "/messages/*/<b>odd<~1b>", 1, False),
        ("reasoning", "/messages/*/content/*", 1, True),
    ]
    page = as_viewer.get(reverse("reports:run", args=[project.slug, run.number])).content.decode()
    shown = page[page.index("File report") :]
    assert "a message has a block of type `thinking`" in shown
    assert "unknown key &lt;b&gt;odd&lt;/b&gt;" in shown


def test_text_is_read_with_the_tools_that_were_offered(project, version, run_jobs):
    code = {"id": "hello", "text": "```python\nplan_the_day(hours=8)\n```"}
    made = {"id": "history", "text": f"<think>{STATUS}()</think>\n{HISTORY}()"}
    asked = {"id": "status", "messages": [{"role": "assistant", "content": f"<tool_call>{STATUS}</tool_call>"}]}
    run = uploaded_run(project, version, [code, made, asked, GOOD[2]])

    run_jobs()

    run.refresh_from_db()
    cases = cases_of(run.grading)
    assert {name: case.actual for (name, _), case in cases.items() if name != "refund"} == {
        "hello": "(none)",
        "history": HISTORY,
        "status": STATUS,
    }


def test_a_missing_prediction_is_unscored_and_counted(project, version, run_jobs):
    run = uploaded_run(project, version, [call("status", STATUS, trial=1)], trials=2)

    run_jobs()

    run.refresh_from_db()
    cases = cases_of(run.grading)
    assert len(cases) == 8
    assert cases["status", 1].outcome == "passed"
    others = [case for key, case in cases.items() if key != ("status", 1)]
    assert {(case.outcome, case.selection, case.expected, case.actual) for case in others} == {
        ("unscored", "unscored", "", "")
    }
    assert run.job.report == {"predictions": 1, "missing": 7}
    assert run.grading.verdict_counts.get(column="outcome", value="unscored").count == 7


def test_arguments_that_are_no_json_are_the_agents_fault(project, version, run_jobs):
    broken = {"id": "status", "tool_calls": [{"name": STATUS, "arguments": '{"order_id": '}]}

    run = uploaded_run(project, version, [broken, *GOOD[1:]])

    run_jobs()

    case = cases_of(run.gradings.get())["status", 0]
    assert (case.actual, case.tag, case.outcome, case.selection) == (
        "(unparsed)",
        "MALFORMED_OUTPUT",
        "failed",
        "failed",
    )


@pytest.mark.parametrize("depth", [199, 200, 201, 254, 100_000])
def test_arguments_of_any_depth_are_graded(project, version, run_jobs, depth):
    deep = {"id": "status", "tool_calls": [{"name": STATUS, "arguments": '{"a":' * depth + "1" + "}" * depth}]}

    run = uploaded_run(project, version, [deep])

    run_jobs()

    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert cases_of(run.grading)["status", 0].actual == (STATUS if depth <= 200 else "(unparsed)")


@pytest.mark.parametrize(
    ("line", "pointer", "says"),
    [
        (b"{", "", "not JSON"),
        (b"[]", "", ""),
        (b'{"id": "status", "id": "status"}', "/id", "twice"),
        (jsonl([call("nobody", STATUS)]).strip(), "/id", "not the id of an example"),
        (jsonl([call("status", STATUS, trial=1)]).strip(), "/trial", "0 to 0"),
        (jsonl([call("status", STATUS, trial=-1)]).strip(), "/trial", ""),
        (jsonl([{"id": "status", "tool_calls": 5}]).strip(), "/tool_calls", ""),
        (b'{"id": "status", "answer": "\\u0000"}', "/answer", "NUL"),
        (b'{"id": "status", "answer": NaN}', "/answer", "NaN"),
        (
            b'{"id": "status", "tool_calls": [{"name": "a", "arguments": ' + b'{"a":' * 99 + b"1" + b"}" * 99 + b"}]}",
            "",
            "nested",
        ),
        (b'{"id": "\xff"}', "", "UTF-8"),
    ],
)
def test_a_wrong_line_refuses_the_file_and_is_named(project, version, run_jobs, line, pointer, says):
    run = uploaded_run(project, version, jsonl(GOOD[1:2]) + b"\n" + line + b"\n")

    [error] = refused(run, run_jobs)

    assert (error["line"], error["pointer"]) == (3, pointer)
    assert says in error["message"]


def test_the_same_id_and_trial_twice_refuses_the_file(project, version, run_jobs):
    run = uploaded_run(project, version, [*GOOD, call("status", STATUS)])

    [error] = refused(run, run_jobs)

    assert (error["line"], error["pointer"]) == (5, "/id")
    assert "line 1" in error["message"]


def test_every_wrong_line_is_named_up_to_a_limit(project, version, run_jobs, monkeypatch):
    monkeypatch.setattr(evaluation_files, "MAX_ERRORS", 3)
    run = uploaded_run(project, version, [call(f"no-{number}", STATUS) for number in range(9)])

    errors = refused(run, run_jobs)

    assert [error["line"] for error in errors] == [1, 2, 3]
    assert "there are more" in run.job.batches.get(task="runs.ingest").error


def test_a_wrong_line_late_in_a_long_file_takes_everything_back(project, version, run_jobs, monkeypatch):
    monkeypatch.setattr("toolevals.runs.runs.ingesting.CHUNK", 1)
    run = uploaded_run(project, version, [*GOOD, {"id": 5}])

    [error] = refused(run, run_jobs)

    assert error["line"] == 5


def test_a_line_without_end_is_not_read_into_memory(project, version, run_jobs, monkeypatch):
    monkeypatch.setattr(evaluation_files, "MAX_LINE_BYTES", 400)
    run = uploaded_run(project, version, b'{"id": "' + b"x" * 1000 + b'"}\n' + jsonl(GOOD))

    [error] = refused(run, run_jobs)

    assert error == {"line": 1, "pointer": "", "message": "the line is longer than 400 bytes"}


def test_a_byte_order_mark_and_empty_lines_are_no_matter(project, version, run_jobs):
    run = uploaded_run(project, version, b"\xef\xbb\xbf" + jsonl(GOOD).replace(b"\n", b"\r\n\r\n"))

    run_jobs()

    run.refresh_from_db()
    assert run.job.report["predictions"] == 4


def test_an_empty_file_scores_nothing(project, version, run_jobs):
    run = uploaded_run(project, version, b"")

    run_jobs()

    run.refresh_from_db()
    assert run.job.report == {"predictions": 0, "missing": 4}
    assert {case.outcome for case in cases_of(run.grading).values()} == {"unscored"}


def test_a_file_that_is_gone_is_said(project, version, run_jobs):
    run = uploaded_run(project, version, GOOD)
    batch = run.job.batches.get(task="runs.ingest")
    batch.payload = {**batch.payload, "upload": str(run.pk)}
    batch.save()

    run_jobs()

    batch.refresh_from_db()
    assert "has expired" in batch.error
    assert not Run.with_trash.exists()


def test_a_refused_file_that_is_tried_again_says_to_upload_it_anew(project, version, run_jobs):
    run = uploaded_run(project, version, [{"id": 5}])
    refused(run, run_jobs)

    job_retry(job=run.job, actor=None)
    run_jobs()

    assert "upload it as a new run" in run.job.batches.get(task="runs.ingest").error
    assert uploaded_run(project, version, GOOD).number == run.number


def test_the_baseline_takes_no_upload(project, version):
    from toolevals.runs.agents.services import agent_ensure, experiment_ensure
    from toolevals.runs.runs.services import RunParts

    with pytest.raises(InvalidDocument) as caught:
        run_upload(
            RunParts(
                project=project,
                actor=None,
                experiment=experiment_ensure(project=project, actor=None, slug="nightly"),
                agent=agent_ensure(project=project, actor=None, name="baseline", connector="baseline"),
                dataset_version=version,
            ),
            upload=stored(project, json.dumps(GOOD[0]).encode()),
        )

    assert caught.value.problems[0].pointer == "/agent"
