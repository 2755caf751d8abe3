"""Files of other evaluation tools as examples; their format is found by what they hold."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from labeling.imports.formats import source_of
from tests.labeling.importing import load, problems, shown
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import JobState

__all__ = ["load"]

DATA = Path(__file__).parents[1] / "grading" / "files" / "evaluation_files" / "data"


@pytest.mark.django_db
def test_the_format_is_found_and_told_with_what_is_left_out(load):
    job = load((DATA / "promptfoo_results.json").read_bytes(), "auto")
    assert job.state == JobState.SUCCEEDED, job.report
    assert job.report["added"] == 2
    (found,) = job.report["read"]["formats"]
    assert (found["name"], found["count"]) == ("promptfoo results", 2)
    assert found["why"].startswith("has config, and results")
    (warning,) = [each for each in job.report["read"]["warnings"] if "assertion" in each["message"]]
    assert warning["pointer"].endswith("/testCase/assert/1")
    assert load((DATA / "promptfoo_results.json").read_bytes(), "auto").report["unchanged"] == 2
    load((DATA / "deepeval_test_run.json").read_bytes(), "deepeval")
    gold = shown("order").gold
    assert gold is not None
    assert gold.expectation["answer"] == {"contains": ["shipped"]}


@pytest.mark.django_db
def test_a_wrong_entry_refuses_the_file_and_names_line_and_pointer(load):
    rows = [{"user_input": "x", "response": "y"}, {"user_input": [{"type": "robot", "content": "z"}]}]
    job = load(rows, "ragas")
    assert job.state == JobState.FAILED
    assert problems(job) == [(2, "/user_input/0/type")]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'{"id": "a", "input": {"messages": [{"role": "user", "content": "x"}]}}\n', "jsonl"),
        (b'{"messages": [{"role": "user", "content": "x"}], "tools": []}\n', "openai_chat"),
        (b'{"input": "x", "ideal": "y"}\n', "openai_evals"),
        (b'{"inputs": {"question": "x"}, "outputs": {"answer": "y"}}\n', "langsmith"),
        (b'[{"inputs": {"question": "x"}, "outputs": {"answer": "y"}}]', "langsmith_examples"),
        (b"inputs.question,outputs.answer\nx,y\n", "langsmith_csv"),
        (b"Question,Tool\nx,y\n", "csv"),
        (b'{"question_row": {}, "answer_row": null, "category": "multiple"}\n', "bfcl"),
        (json.dumps({"tasks": [], "simulations": []}).encode(), "tau2"),
        (json.dumps([{"task_id": 0, "traj": []}]).encode(), "tau"),
        ((DATA / "pydantic_evals.yaml").read_bytes(), "pydantic_evals"),
        ((DATA / "inspect.eval").read_bytes(), "inspect"),
        ((DATA / "langsmith_runs.jsonl").read_bytes(), "langsmith_runs"),
    ],
)
def test_every_kind_of_file_is_told_from_the_others(content, name):
    assert source_of(io.BytesIO(content)).source.name == name


@pytest.mark.parametrize("content", [b"", b"just words\n", b'{"colour": 1}', b"\x1f\x8b broken", b"PK\x03\x04 broken"])
def test_an_unknown_file_is_refused(content):
    with pytest.raises(InvalidDocument):
        source_of(io.BytesIO(content))


@pytest.mark.django_db
def test_a_log_of_conversations_is_imported_and_a_wrong_line_is_named(load):
    log = b"User: Where is A-1?\nTool get_order(id='A-1') -> sent\nAssistant: It was sent.\n---\nUser: Hi\nBot: Hello\n"
    job = load(log, "auto")
    assert job.state == JobState.SUCCEEDED, job.report
    (found,) = job.report["read"]["formats"]
    assert (found["name"], found["why"], found["count"]) == (
        "chat log, JSON Lines or text", "its lines begin with speakers", 2,
    )  # fmt: skip
    assert load(log, "chatlog").report["unchanged"] == 2
    broken = load(log + b"no speaker\n", "chatlog")
    assert broken.state == JobState.FAILED
    assert "line 7: starts with no known speaker" in json.dumps(broken.report)
