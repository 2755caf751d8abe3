"""A benchmark's result file as tasks and a run: joined by content, with policy, endings and rewards."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from labeling.models import Dataset, Example
from tests.grading.benchmark import needs_benchmark
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.client import Project
from toolevals.client.http import Request, Response
from toolevals.grading.files.evaluation_files.reading import content_key
from toolevals.grading.reading.examples import read_example
from toolevals.grading.reading.parsing.recorded import tau2_runs, tau_runs
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.files.recorded_files import example_document, joined, predictions, task_rows
from toolevals.runs.models import Run, Transcript
from toolevals.workspace.models import Role
from toolevals.workspace.tokens.services import token_create

POLICY = "# Policy\n\nA certificate is worth $50."


def tau(task: int, instruction: str, *, reward: float | None = 1.0, trial: int = 0) -> dict[str, Any]:
    info: dict[str, Any] = {"task": {"instruction": instruction, "actions": [{"name": "cancel", "kwargs": {"o": "A"}}]}}
    if reward is not None:
        info["reward_info"] = {"reward": reward}
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Done."}]
    return {"task_id": task, "trial": trial, "reward": reward or 0.0, "info": info, "traj": said}


def tau2(*runs: dict[str, Any]) -> dict[str, Any]:
    tasks: list[dict[str, Any]] = [
        {"id": each, "user_scenario": {"instructions": f"Do {each}."}, "evaluation_criteria": {"actions": []}}
        for each in ("3", "4")
    ]
    info = {"environment_info": {"domain_name": "shop", "policy": POLICY}}
    return {"info": info, "tasks": tasks, "simulations": list(runs)}


def simulation(task: str, reason: str, reward: float = 0.0) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    return {"task_id": task, "termination_reason": reason, "reward_info": {"reward": reward}, "messages": messages}


def test_a_task_is_the_example_of_the_same_content_whatever_its_id():
    document = {"system": [POLICY], "records": [tau(0, "Cancel A."), tau(1, "Cancel B."), tau(2, "Cancel C.")]}
    rows = task_rows(document, "unordered", offered=False)
    known = [
        {"id": "task-7", "input": {"messages": [{"role": "user", "content": " cancel  A."}]}},
        {"id": "task-1", "input": {"messages": [{"role": "user", "content": "Something else."}]}},
    ]
    names = joined(rows, known)
    assert names["task-0"] == ("task-7", True)
    own = f"task-1-{content_key(rows[1].input)[:8]}"
    assert names["task-1"] == (own, False)
    assert names["task-2"] == ("task-2", False)
    lines = list(predictions(list(tau_runs(document)), names, ""))
    assert [line["id"] for line in lines] == ["task-7", own, "task-2"]
    example = read_example(example_document(rows[1], names))
    assert example.external_id == own
    assert [each["role"] for each in example.input["messages"]] == ["system", "user"]


def test_policy_endings_and_rewards_go_with_the_runs():
    document = tau2(simulation("3", "max_steps"), simulation("4", "user_stop", 1.0))
    rows = task_rows(document, "unordered", offered=True)
    cut, done = predictions(list(tau2_runs(document)), joined(rows, ()), "shop")
    assert [row.external_id for row in rows] == ["shop-3", "shop-4"]
    assert cut["recorded"] == {"source": "tau2-bench", "reward": 0.0, "ending": "max_steps"}
    assert (cut["ended"], done.get("ended"), done["id"]) == ("steps", None, "shop-4")
    assert read_prediction(done).transcript.messages[0].content == POLICY
    first = {"system": [POLICY], "records": [tau(0, "Cancel A.", reward=None), tau(0, "Cancel A.", trial=1)]}
    runs = list(tau_runs(first))
    assert [(run.transcript.ended, run.policy) for run in runs] == [("steps", POLICY), (None, POLICY)]
    with_prompt = tau(0, "Cancel A.")
    with_prompt["traj"].insert(0, {"role": "system", "content": "Own policy."})
    (run,) = tau_runs([with_prompt])
    assert (run.policy, run.transcript.messages[0].role) == ("Own policy.", "user")
    assert task_rows([with_prompt], "unordered", offered=False)[0].input["messages"][0]["content"] == "Own policy."


def test_what_is_wrong_is_named_by_its_place():
    with pytest.raises(InvalidDocument) as error:
        task_rows([tau(0, "Cancel A."), {"task_id": 1, "traj": []}], "unordered", offered=True)
    assert error.value.problems[0].pointer == "/1/info/task"
    document = tau2(simulation("9", "user_stop"))
    names = joined(task_rows(document, "unordered", offered=True), ())
    with pytest.raises(InvalidDocument, match="task 9 has recorded runs"):
        list(predictions(list(tau2_runs(document)), names, "shop"))


@needs_benchmark
def test_the_two_benchmarks_airline_tasks_share_few_contents_and_no_wrong_join():
    folder = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau"
    one, two = (
        json.loads(gzip.decompress((folder / name).read_bytes()))
        for name in ("tau2_gpt-4.1_airline_1trial.json.gz", "tau2_qwen2.5-7b_airline_1trial.slim.json.gz")
    )
    known = [example_document(row, joined([row], ())) for row in task_rows(two, "unordered", offered=True)]
    words = {each["id"]: content_key(each["input"]) for each in known}
    rows = task_rows(one, "unordered", offered=True)
    names = joined(rows, known)
    assert len(names) == 20
    for row in rows:
        name = names[row.external_id]
        assert not name.is_known or words[name.id] == content_key(row.input)
    assert any(name.is_known for name in names.values())


def answered(request: Request) -> Response:
    """Return what the application in this process answers."""
    asked = urlsplit(request.url)
    sent = request.headers
    headers = {name: sent[name] for name in ("Authorization", "Idempotency-Key") if name in sent}
    whole: Any = request.body or b""
    body = whole if isinstance(whole, bytes) else b"".join(whole)
    address = f"{asked.path}?{asked.query}"
    found: Any = Client().generic(
        request.method, address, body, content_type=sent.get("Content-Type", ""), headers=headers
    )
    said = b"".join(found.streaming_content) if found.streaming else found.content
    return Response(request, found.status_code, stream=io.BytesIO(said))


@pytest.mark.django_db
def test_one_verb_takes_a_result_file_twice(project, owner, run_jobs, tmp_path, monkeypatch, capsys):
    _, token = token_create(project=project, actor=owner, user=owner, name="cli", role=Role.OWNER)
    monkeypatch.setenv("TOOLEVALS_TOKEN", token)
    plain = Project.__init__
    monkeypatch.setattr(Project, "__init__", lambda self, **said: plain(self, **said, transport=answered))
    monkeypatch.setattr(Project, "wait", lambda *_, **__: run_jobs())
    file = tmp_path / "results.json.gz"
    document = {"system": [POLICY], "records": [tau(0, "Cancel A."), tau(0, "Cancel A.", trial=1, reward=None)]}
    file.write_bytes(gzip.compress(json.dumps(document).encode()))
    asked = ["import", "recorded", str(file), "--dataset", "shop", "--experiment", "rec", "--name", "gpt"]
    for new in (1, 0):
        status = main([*asked, "--project", project.slug, "--server", "http://testserver"])
        said = capsys.readouterr().out
        assert status == Exit.OK, said
        assert f"tasks 1: {new} new, {1 - new} of the same content there already" in said
        assert "scored cases agree with the recorded reward" in said
    run = Run.objects.latest("number")
    assert sorted(Transcript.objects.filter(run=run).values_list("trial", "ended", "reward")) == [
        (0, "", 1.0),
        (1, "steps", 0.0),
    ]
    assert Example.objects.filter(dataset__slug="shop").count() == 1


@pytest.mark.django_db
def test_the_tools_that_are_named_are_offered_by_a_dataset_that_was_there_before(
    project, owner, run_jobs, tmp_path, monkeypatch, capsys
):
    _, token = token_create(project=project, actor=owner, user=owner, name="cli", role=Role.OWNER)
    monkeypatch.setenv("TOOLEVALS_TOKEN", token)
    plain = Project.__init__
    monkeypatch.setattr(Project, "__init__", lambda self, **said: plain(self, **said, transport=answered))
    monkeypatch.setattr(Project, "wait", lambda *_, **__: run_jobs())
    registry = registry_create(project=project, actor=owner, slug="air", name="Air")
    tools = [{"name": "cancel", "input_schema": {"type": "object"}}]
    registry_publish(registry=registry, actor=owner, document=tools)
    dataset = Dataset.objects.create(project=project, slug="old", name="Old")
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"system": [POLICY], "records": [tau(0, "Cancel A.")]}))
    asked = ["import", "recorded", str(file), "--dataset", "old", "--experiment", "rec", "--name", "gpt"]
    status = main([*asked, "--tools", "air", "--project", project.slug, "--server", "http://testserver"])
    said = capsys.readouterr()
    assert status == Exit.OK, said
    assert "old offers air@1 as default tools from now on" in said.out
    example = Example.objects.get(dataset=dataset)
    assert example.current is not None
    assert [tool.name for tool in tools_in(example.current.tools)] == ["cancel"]
