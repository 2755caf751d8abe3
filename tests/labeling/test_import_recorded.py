"""Recorded runs of simulators: tasks as scenarios, turns as decision points; on made-up and on real files."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from labeling.imports.formats import SOURCES
from labeling.imports.parts import Settings
from labeling.models import Example
from tests.labeling.importing import load, problems, shown
from tests.labeling.rows import SHOP_TOOLS
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import JobState

__all__ = ["load"]

FOLDER = os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")
CALL = {"id": "c1", "function": {"name": "get_order", "arguments": '{"order_id": "A-1"}'}}
TRAJECTORY = [
    {"role": "user", "content": "Cancel A-1."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    {"role": "assistant", "content": "Done."},
]


def tau(task_id: int = 0, trial: int = 0, **task: Any) -> dict[str, Any]:
    actions = [{"name": name, "kwargs": {"order_id": "A-1"}} for name in ("get_order", "cancel_order")]
    whole = {"instruction": "You want to cancel A-1.", "user_id": "una", "actions": actions, "outputs": ["$4"]} | task
    return {"task_id": task_id, "trial": trial, "reward": 1.0, "info": {"task": whole}, "traj": TRAJECTORY}


def tau2_task(**criteria: Any) -> dict[str, Any]:
    action = {"name": "get_order", "arguments": {"order_id": "A-1", "verbose": True}, "compare_args": ["order_id"]}
    return {
        "id": "5",
        "description": {"purpose": "Checks the state."},
        "user_scenario": {"instructions": {"domain": "shop", "reason_for_call": "Your order.", "known_info": "A-1."}},
        "evaluation_criteria": {"actions": [action], "communicate_info": ["shipped"], "nl_assertions": ["Be kind."]}
        | criteria,
    }


def read(source: str, document: Any, *, tools: bool = True, **options: str) -> list[ExampleRow]:
    reader = SOURCES[source].read_all
    assert reader is not None
    known = {tool["name"]: ToolSpec.from_document(tool) for tool in SHOP_TOOLS} if tools else None
    rows = [found for _, found in reader(document, Settings(options, known))]
    assert all(isinstance(row, ExampleRow) for row in rows), rows
    return [row for row in rows if isinstance(row, ExampleRow)]


def test_tau_each_task_is_one_scenario_however_often_it_was_run():
    row, other = read("tau", [tau(), tau(trial=1), tau(task_id=1)])
    assert (row.external_id, other.external_id) == ("task-0", "task-1")
    assert row.input["messages"] == [{"role": "user", "content": "You want to cancel A-1."}]
    assert row.expectation is not None
    (trajectory,) = row.expectation.alternatives
    assert [call.to_document()["tool"] for call in trajectory.unordered] == ["get_order", "cancel_order"]
    assert trajectory.additional_calls
    assert row.expectation.answer == {"contains": ["$4"]}
    (ordered, *_) = read("tau", {"records": [tau()]}, order="ordered")
    assert ordered.expectation is not None
    assert len(ordered.expectation.alternatives[0].ordered) == 2


def test_tau_decision_points_are_to_be_labelled():
    (row,) = read("tau", [tau()], examples="decisions")
    assert row.external_id == "task-0-0-1"
    assert [message["role"] for message in row.input["messages"]] == ["user"]
    assert row.expectation is None


def test_without_tools_they_are_made_of_the_calls():
    (row,) = read("tau", [tau()], tools=False)
    assert isinstance(row.tools, list)
    assert [tool.name for tool in row.tools] == ["cancel_order", "get_order"]
    assert [loss.pointer for loss in row.losses] == ["/tools"]


def test_a_tool_that_only_the_user_calls_is_not_offered_to_the_agent():
    agent = {"name": "get_order", "arguments": {}}
    user = {"name": "toggle_data", "arguments": {}, "requestor": "user"}
    both = {"name": "look", "arguments": {}, "requestor": "user"}
    task = tau2_task(actions=[agent, user, both, {**both, "requestor": "assistant"}])
    call = {"id": "u", "name": "run_speed_test", "arguments": {}, "requestor": "user"}
    messages = [
        {"role": "user", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "u", "content": "slow", "requestor": "user"},
        {"role": "assistant", "content": "I see."},
    ]
    runs = [{"task_id": "5", "messages": messages}]
    (row,) = read("tau2", {"tasks": [task], "simulations": runs}, tools=False)
    assert [tool.name for tool in row.tools or () if isinstance(tool, ToolSpec)] == ["get_order", "look"]
    assert row.expectation is not None
    assert [call.tool for call in row.expectation.alternatives[0].calls] == ["get_order", "look"]


def test_tau2_tasks_expect_what_is_compared_and_told():
    (row,) = read("tau2", [tau2_task()])
    assert row.external_id == "shop-5"
    assert row.input["messages"][0]["content"] == "Your order.\n\nA-1."
    assert row.rationale == "Checks the state.\nBe kind."
    assert row.expectation is not None
    assert row.expectation.to_document() == {
        "kind": "calls",
        "alternatives": [{"ordered": [{"tool": "get_order", "arguments": {"order_id": {"exact": "A-1"}}}]}],
        "answer": {"contains": ["shipped"]},
    }
    (nothing,) = read("tau2", [tau2_task(actions=[], communicate_info=None)])
    assert nothing.expectation is not None
    assert nothing.expectation.alternatives[0].expected == ()


def test_a_task_is_decided_as_the_benchmark_decides_it():
    (row,) = read("tau", [tau()])
    assert row.decided_by == "end_state+answer"
    assert read("tau", [tau()], decided_by="dataset")[0].decided_by == ""
    assert read("tau", [tau()], examples="decisions")[0].decided_by == ""
    assert read("tau2", [tau2_task()])[0].decided_by == "end_state+answer"
    (nothing,) = read("tau2", [tau2_task() | {"evaluation_criteria": None}])
    assert (nothing.expectation, nothing.decided_by) == (None, "")
    (acts,) = read("tau2", [tau2_task(reward_basis=["ACTION", "NL_ASSERTION"])])
    assert acts.decided_by == "calls"
    assert [str(loss) for loss in acts.losses] == [
        "/evaluation_criteria/reward_basis: NL_ASSERTION is checked by the benchmark alone: it decides nothing here"
    ]
    (judged,) = read("tau2", [tau2_task(reward_basis=["ENV_ASSERTION"])])
    assert (judged.decided_by, len(judged.losses)) == ("", 1)


def test_what_the_benchmark_was_run_with_is_not_kept():
    info = {"environment_info": {"domain_name": "shop"}, "user_info": {"llm_args": {"api_key": "s3cret"}}}
    (row,) = read("tau2", {"info": info, "tasks": [tau2_task()], "simulations": []})
    assert "s3cret" not in repr(row)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("source", "document", "pointer"),
    [
        ("tau", [tau(), {"task_id": None}], "/1/task_id"),
        ("tau", {"records": [tau(actions=[{"kwargs": {}}])]}, "/records/0/info/task/actions/0"),
        ("tau", {"records": 3}, "/records"),
        ("tau2", {"tasks": [tau2_task(actions=[3])]}, "/tasks/0/evaluation_criteria/actions/0"),
        ("tau2", {"tasks": [{"id": None}]}, "/tasks/0/id"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(load, source, document, pointer):
    job = load(json.dumps(document).encode(), source)
    assert job.state == JobState.FAILED
    assert [place for _, place in problems(job)] == [pointer]


@pytest.mark.django_db
def test_a_file_is_imported_with_its_options(load):
    assert load(gzip.compress(json.dumps([tau()]).encode()), "tau", {"order": "ordered"}).report["added"] == 1
    gold = shown("task-0").gold
    assert gold is not None
    assert len(gold.expectation["alternatives"][0]["ordered"]) == 2
    with pytest.raises(InvalidDocument):
        load(b"[]", "tau", {"order": "backwards"})


@pytest.mark.skipif(not FOLDER, reason="TOOLEVALS_BENCHMARK_DATA does not say where the benchmark is")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("source", "name", "tasks"),
    [
        ("tau", "tau_gpt-4o_airline.slim.json.gz", 50),
        ("tau", "tau_grok-3_retail_flaky503.slim.json.gz", 115),
        ("tau2", "tau2_gpt-4.1_airline_1trial.json.gz", 20),
        ("tau2", "gold_tau2_v0_retail.json.gz", 114),
    ],
)
def test_real_files(dataset, load, source, name, tasks):
    dataset.default_tools = None
    dataset.save()
    job = load((Path(FOLDER) / "tau" / name).read_bytes(), source)
    assert job.report["added"] == tasks, job.report
    assert Example.objects.filter(current__gold__isnull=False).count() == tasks
