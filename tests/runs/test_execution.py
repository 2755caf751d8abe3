"""Test what calls leave behind in a simulator's world: graded live, and by replaying what was uploaded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.chat_server import calls, chat_server, says
from tests.runs.building import TOOLS, cases_of, uploaded_run, version_of
from tests.runs.live import last, live_run
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import Transcript, VerdictCount
from toolevals.runs.simulators.services import simulator_choose, simulator_ensure
from toolevals.workspace.models import JobState

pytestmark = pytest.mark.django_db(transaction=True)
CODE = """
import os

STATE = {
    "orders": {
        "ORD-1": {"status": "paid", "refunded": 0, "flags": []},
        "ORD-2": {"status": "paid", "refunded": 0, "flags": []},
    },
    "archive": {f"OLD-{number}": {"status": "closed"} for number in range(50)},
}


def get_order_status(state, order_id):
    return state["orders"][order_id]["status"]


def get_order_history(state, order_id):
    return list(state["archive"])


def issue_refund(state, order_id, flag=None):
    if order_id == "ORD-0":
        os._exit(3)
    order = state["orders"][order_id]
    order["refunded"] += 1
    if flag:
        state["orders"]["ORD-2"]["flags"].append(flag)
    return "refunded"
"""
REFUND = {"tool": "issue_refund", "arguments": {"order_id": {"exact": "ORD-1"}}}
POLLUTED = {
    "kind": "polluted",
    "path": "/orders/ORD-2/flags/0",
    "record": "/orders/ORD-2",
    "actual": "seen",
}


@pytest.fixture(autouse=True)
def installation(settings: Any) -> None:
    settings.TRUSTED_SIMULATORS = ["*"]
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]


def row(name: str = "refund", **expectation: Any) -> dict[str, Any]:
    """Return a row whose right call is a refund for order ORD-1; further calls are allowed."""
    whole = {"kind": "calls", "alternatives": [{"ordered": [REFUND]}], **expectation}
    messages = [{"role": "user", "content": "The money for order ORD-1, please."}]
    return {"id": name, "input": {"messages": messages}, "tools": TOOLS, "expectation": whole}


def shop(project: Any, version: Any, code: str = CODE) -> Any:
    simulator = simulator_ensure(
        project=project, actor=None, name="Shop", kind="code", content={"files": {"simulator.py": code}}
    )
    simulator_choose(dataset=version.dataset, actor=None, simulator=simulator)
    return simulator


def does(name: str, *tool_calls: tuple[str, dict[str, Any]], trial: int = 0) -> dict[str, Any]:
    return {"id": name, "trial": trial, "tool_calls": [{"name": tool, "arguments": said} for tool, said in tool_calls]}


RIGHT = ("issue_refund", {"order_id": "ORD-1"})


def test_a_polluting_agent_is_caught_where_schema_and_equivalence_pass(project, run_jobs):
    version = version_of(project, [row()])
    simulator = shop(project, version)
    polluting = ("issue_refund", {"order_id": "ORD-1", "flag": "seen"})
    reading = ("get_order_status", {"order_id": "ORD-1"})
    run = uploaded_run(project, version, [does("refund", reading, RIGHT), does("refund", polluting, trial=1)], trials=2)
    run_jobs()
    run.refresh_from_db()
    assert run.grading.simulator == simulator
    cases = cases_of(run.grading)
    clean, bad = cases["refund", 0], cases["refund", 1]
    assert (clean.outcome, clean.execution) == ("passed", "passed")
    assert [bad.selection, bad.schema, bad.equivalence] == ["passed"] * 3
    assert (bad.outcome, bad.execution, bad.mode) == ("failed", "failed", "wrong_state")
    assert bad.detail["details"]["execution"] == {"wrong": [], "missing": [], "polluted": [POLLUTED]}
    counts = VerdictCount.objects.filter(grading=run.grading, column="execution").order_by("value")
    assert list(counts.values_list("value", "count")) == [("failed", 1), ("passed", 1)]


def test_each_case_gets_its_own_verdict_and_a_dead_sandbox_errors_its_own_case_alone(project, run_jobs):
    vague = {"tool": "issue_refund", "arguments": {"order_id": {"has_prefix": "ORD"}}}
    rows = [row(name) for name in ("good", "dies", "raises", "looks", "later")]
    version = version_of(project, [*rows, row("open", alternatives=[{"ordered": [vague]}])])
    shop(project, version)
    predictions = [
        does("good", RIGHT),
        does("dies", RIGHT, ("issue_refund", {"order_id": "ORD-0"})),
        does("raises", ("issue_refund", {"order_id": "ORD-9"})),
        does("looks", RIGHT, ("get_order_status", {"order_id": "ORD-9"})),
        does("later", RIGHT),
        does("open", RIGHT),
    ]
    run = uploaded_run(project, version, predictions)
    run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    cases = {name: case for (name, _), case in cases_of(run.grading).items()}
    assert {name: case.execution for name, case in cases.items()} == {
        "good": "passed",
        "dies": "errored",
        "raises": "failed",
        "looks": "passed",
        "later": "passed",
        "open": "unscored",
    }
    assert (cases["dies"].outcome, cases["dies"].tag, cases["dies"].selection) == ("errored", "HARNESS_ERROR", "passed")
    assert "ended by itself" in cases["dies"].detail["verdicts"]["execution"]["reason"]
    assert "KeyError: 'ORD-9'" in cases["raises"].detail["verdicts"]["execution"]["reason"]


def test_a_run_is_graded_again_by_replaying_its_calls_once_its_dataset_has_a_simulator(project, run_jobs):
    version = version_of(project, [row()])
    run = uploaded_run(project, version, [does("refund", RIGHT, RIGHT)])
    run_jobs()
    run.refresh_from_db()
    before = cases_of(run.grading)["refund", 0]
    assert (before.outcome, before.execution) == ("passed", "unscored")
    shop(project, version)
    grading_start(run=run, actor=None)
    run_jobs()
    run.refresh_from_db()
    after = cases_of(run.grading)["refund", 0]
    assert (run.grading.number, after.outcome, after.execution) == (2, "failed", "failed")
    assert after.detail["details"]["execution"]["wrong"] == [
        {"kind": "wrong", "path": "/orders/ORD-1/refunded", "record": "/orders/ORD-1", "expected": 1, "actual": 2}
    ]
    before.refresh_from_db()
    assert before.execution == "unscored"


def test_where_no_sandbox_is_the_other_layers_are_graded_and_it_is_said_why(project, run_jobs, settings, monkeypatch):
    version = version_of(project, [row()])
    shop(project, version)
    settings.TRUSTED_SIMULATORS = []
    monkeypatch.setenv("PATH", "/nowhere")
    run = uploaded_run(project, version, [does("refund", RIGHT)])
    run_jobs()
    run.refresh_from_db()
    case = cases_of(run.grading)["refund", 0]
    assert (case.outcome, case.execution) == ("passed", "unscored")
    assert "bubblewrap is not installed" in case.detail["verdicts"]["execution"]["reason"]


def test_a_live_conversation_is_graded_by_what_became_of_its_own_world(project, run_jobs):
    """A fault keeps the first refund from happening: a replay of both calls would refund twice."""
    example = row()
    example["input"]["simulation"] = {"faults": [{"tool": "issue_refund", "fault": "400"}]}
    version = version_of(project, [example])
    shop(project, version)

    def persistent(body: dict[str, Any]) -> dict[str, Any]:
        said = last(body)
        if said["role"] != "tool" or "400" in said["content"]:
            return calls(("issue_refund", '{"order_id": "ORD-1"}'))
        return says("Done.")

    with chat_server(persistent) as server:
        run = live_run(project, version, server)
        run_jobs()
    run.refresh_from_db()
    (transcript,) = Transcript.objects.of_run(run)
    assert "state" not in transcript.document
    assert transcript.document["state_changes"]["patch"] == [
        {"op": "replace", "path": "/orders/ORD-1/refunded", "value": 1}
    ]
    case = cases_of(run.grading)["refund", 0]
    assert (case.execution, case.outcome) == ("passed", "passed")
