"""Runs that are judged: uploads that rules leave something open in, and judges on loopback."""

from __future__ import annotations

from typing import Any

from tests.agents.chat_server import ChatServer
from tests.agents.judges import MODEL
from tests.runs.building import REFUND, STATUS, call, example, silence, uploaded_run, version_of
from toolevals.runs.judging.services import JudgeRequest, judge_add, judge_change, rubric_use
from toolevals.runs.models import JudgedCase, Run
from toolevals.workspace.models import Project

POLITE = "a polite reason"


def worded_example(name: str) -> dict[str, Any]:
    """Return a row whose refund has a reason in words."""
    row = example(name, "Give me the money for order ORD-1 back", None)
    del row["expected_tool"]
    tools = [dict(tool) for tool in row["tools"]]
    tools[2]["input_schema"] = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    call_of = {"tool": REFUND, "arguments": {"reason": {"natural_language": POLITE}}}
    return {**row, "tools": tools, "expectation": {"kind": "calls", "alternatives": [{"unordered": [call_of]}]}}


ROWS = [
    example("equal", "What is the shipping status of order ORD-1?", STATUS),
    example("differs", "What is the shipping status of order ORD-1?", STATUS),
    example("wrong", "Give me the money for order ORD-1 back", REFUND),
    worded_example("worded"),
    example("hello", "Hi there!", None),
]
PREDICTIONS = [
    call("equal", STATUS),
    call("differs", STATUS, order_id="ord 1"),
    call("wrong", STATUS),
    call("worded", REFUND, reason="Sorry, it broke"),
    silence("hello"),
]


def judge_of(
    project: Project, server: ChatServer, rubric: str = "argument_semantics", *, on: bool = True, **said: Any
) -> Any:
    """Make a judge behind `server` and switch it on."""
    options = {"base_url": server.url, "timeout": said.pop("timeout", 30)}
    request = JudgeRequest(
        name=said.pop("name", f"Judge of {rubric}"), model=said.pop("model", MODEL), options=options, **said
    )
    row = rubric_use(project=project, actor=None, name=rubric)
    judge = judge_add(project=project, actor=None, rubric=row, request=request)
    return judge_change(judge=judge, actor=None, is_on=True) if on else judge


def judged_run(project: Project) -> Any:
    """Start a run of five cases: one equal, one that differs, a wrong tool, one in words, one without a call."""
    return uploaded_run(project, version_of(project, ROWS), PREDICTIONS)


def verdicts_of(run: Run, rubric: str) -> dict[str, tuple[str, float | None]]:
    """Return status and value by the example's id."""
    run.refresh_from_db()
    found = JudgedCase.objects.filter(grading=run.grading, rubric=rubric)
    place = "case__transcript__entry__revision__example__external_id"
    return {name: (status, value) for name, status, value in found.values_list(place, "status", "value")}
