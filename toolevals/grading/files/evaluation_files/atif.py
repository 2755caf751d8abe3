"""Reads trajectories in the Agent Trajectory Interchange Format (ATIF), versions 1.0 to 1.8, one or a list of them.

Source: the models of the package `atif`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.content import example_of, transcript_of
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    counted,
    entries_read,
    items_at,
    keys,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.reading.parsing.content import result_text, text_in
from toolevals.grading.reading.parsing.extras import thought_in
from toolevals.grading.reading.parsing.json_calls import call_of
from toolevals.grading.values import Message
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_VERSION = "ATIF-v1."
_TRAJECTORY = keys(
    "schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref "
    "extra subagent_trajectories"
)
_STEP = keys(
    "step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls observation metrics "
    "extra is_copied_context llm_call_count"
)
_ROLES: Mapping[str, str] = {"user": "user", "system": "system", "agent": "assistant"}


def detect(item: object) -> str | None:
    """Return why an item is a trajectory; None where it is none."""
    version = item.get("schema_version") if isinstance(item, Mapping) else None
    if isinstance(version, str) and version.startswith(_VERSION):
        return f"schema_version is {version}"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each trajectory: the steps before the agent's first are the input, the rest what was done."""
    yield from entries_read(items_at(document), _trajectory)


def _trajectory(item: JsonMapping) -> Entry:
    steps = item.get("steps")
    if not isinstance(steps, list) or not steps:
        raise InvalidDocument.at("/steps", "is not a list of steps")
    losses = [*unknown_keys(item, _TRAJECTORY)]
    if item.get("subagent_trajectories"):
        losses.append(Problem("/subagent_trajectories", "what other agents did is left out"))
    messages: list[Message] = []
    for place, each in enumerate(steps):
        pointer = f"/steps/{place}"
        step = object_at(each, pointer)
        losses += unknown_keys(step, _STEP, pointer)
        messages += _step(step, pointer, losses)
    start = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    if not start:
        raise InvalidDocument.at("/steps/0/source", "is the agent's: nothing was asked before it")
    content = {"messages": [message.to_document() for message in messages[:start]]}
    agent = object_at(item.get("agent") or {}, "/agent")
    tools, more = tools_in_row(agent.get("tool_definitions") or None, "/agent/tool_definitions")
    losses += more
    identifier = item.get("trajectory_id") or item.get("session_id")
    row = example_of(identifier, "atif", content, tools=tools, losses=tuple(losses))
    metrics = object_in(item, "final_metrics")
    usage = counted(
        input_tokens=metrics.get("total_prompt_tokens"), output_tokens=metrics.get("total_completion_tokens")
    )
    name = agent.get("name")
    trial = Trial(
        row.external_id,
        transcript_of(messages[start:], usage=usage),
        content,
        agent=name if isinstance(name, str) else "",
    )
    return Entry(row, trial, tuple(losses))


def _step(step: JsonMapping, pointer: str, losses: list[Problem]) -> Iterator[Message]:
    role = _ROLES.get(str(step.get("source")))
    if role is None:
        raise InvalidDocument.at(f"{pointer}/source", "is not one of user, system and agent")
    given = step.get("message")
    for place, part in enumerate(given if isinstance(given, list) else ()):
        if isinstance(part, Mapping) and part.get("type") != "text":
            losses.append(Problem(f"{pointer}/message/{place}", f"a part of type {part.get('type')} is left out"))
    calls = step.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InvalidDocument.at(f"{pointer}/tool_calls", "is not a list of calls")
    made = []
    for place, each in enumerate(calls):
        call = object_at(each, f"{pointer}/tool_calls/{place}")
        identifier = call.get("tool_call_id")
        made.append(
            call_of(
                call.get("function_name"),
                call.get("arguments"),
                identifier if isinstance(identifier, str) else None,
                shown_as=dict(call),
            )
        )
    thought = thought_in(step.get("reasoning_content")) if role == "assistant" else None
    yield Message(role, text_in(given) or None, tuple(made), thought=thought)
    observed = step.get("observation")
    results = observed.get("results") if isinstance(observed, Mapping) else None
    for place, each in enumerate(results if isinstance(results, list) else ()):
        result = object_at(each, f"{pointer}/observation/results/{place}")
        if result.get("subagent_trajectory_ref"):
            where = f"{pointer}/observation/results/{place}/subagent_trajectory_ref"
            losses.append(Problem(where, "what another agent did is left out"))
        source = result.get("source_call_id")
        if made or isinstance(source, str):
            content = result.get("content")
            yield Message("tool", result_text(content), call_id=source if isinstance(source, str) else None)
        else:
            losses.append(Problem(f"{pointer}/observation/results/{place}", "answers no call: left out"))
