"""Reads DeepEval's test cases and goldens: a dataset's file, or a test run's (`.deepeval/.latest_test_run.json`).

Source: deepeval.test_case (`LLMTestCase`, `ConversationalTestCase`) and deepeval.dataset (`Golden`,
`ConversationalGolden`), whose keys come in snake case, and in camel case where the library dumps by alias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import (
    calls_in,
    content_of,
    example_of,
    expected_tools,
    messages_made,
    transcript_of,
)
from toolevals.grading.files.evaluation_files.entries import strata_in
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    milliseconds,
    object_at,
    snake_name,
    unknown_keys,
)
from toolevals.grading.values import Message
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_CASE = keys(
    "input actual_output expected_output context retrieval_context tools_called expected_tools metadata "
    "additional_metadata comments token_cost completion_time name tags success metrics_data run_duration "
    "evaluation_cost order trace input_token_count output_token_count source_file multimodal images_mapping "
    "custom_column_key_values mcp_servers mcp_tools_called mcp_resources_called mcp_prompts_called trace_id "
    "conversational_instance_id turns scenario expected_outcome user_description chatbot_role"
)
_MADE = ("actual_output", "tools_called")
_LISTS = ("test_cases", "goldens", "conversational_test_cases", "conversational_goldens", "conversations")


def detect(document: object) -> str | None:
    """Return why a document is one of DeepEval's; None where it is none."""
    for _, item in _cases(document):
        if not isinstance(item, Mapping):
            return None
        case = _snake(item)
        if "input" in case and ({"expected_tools", "tools_called", "actual_output", "retrieval_context"} & case.keys()):
            return "test cases have input with actual_output, tools_called or expected_tools"
        turns = case.get("turns")
        first = turns[0] if isinstance(turns, list) and turns else None
        if isinstance(first, Mapping) and {"role", "content"} <= first.keys():
            return "conversational test cases have turns"
        if "scenario" in case and "expected_outcome" in case:
            return "conversational goldens have scenario and expected_outcome"
        return None
    return None


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each test case: an example, and the prediction of a case that was run."""
    yield from entries_read(_cases(document), lambda item: _entry(_snake(item)))


def _cases(document: object) -> Iterator[tuple[str, Any]]:
    if isinstance(document, Mapping):
        outer, prefix = document, ""
        for key in ("testRunData", "test_run_data"):
            if isinstance(inner := document.get(key), Mapping):
                outer, prefix = inner, f"/{key}"
        names = [key for key in outer if snake_name(key) in _LISTS and isinstance(outer[key], list)]
        for key in names:
            yield from ((f"{prefix}{pointer}", item) for pointer, item in items_at(outer, key))
        if names:
            return
    yield from items_at(document)


def _entry(case: JsonMapping) -> Entry:
    if isinstance(case.get("turns"), list):
        return _conversation(case)
    if "scenario" in case and "input" not in case:
        raise InvalidDocument.at(
            "", "is a scenario without turns: nothing is asked yet. Simulate it there, and import the test cases"
        )
    # Context is what a judge is to hold the answer against; what was retrieved is what the agent knew.
    known = {"retrieved": case["retrieval_context"]} if case.get("retrieval_context") else {}
    content = content_of(case.get("input"), "/input") | ({"context": known} if known else {})
    expectation, losses = expected_tools(
        case.get("expected_tools"),
        "input_parameters",
        case.get("expected_output"),
        "/expected_tools",
        "/expected_output",
    )
    losses = (*losses, *unknown_keys(case, _CASE))
    row = example_of(
        _named(case), "deepeval", content, expectation=expectation, strata=strata_in(_metadata(case)), losses=losses
    )
    return Entry(row, _trial(case, row.external_id, content), losses)


def _trial(case: JsonMapping, name: str, content: JsonObject) -> Trial | None:
    """Return what the case says was done; None for a golden, where neither words nor calls stand."""
    if all(case.get(key) is None for key in _MADE):
        return None
    given = case.get("tools_called") or []
    calls = calls_in(given, "input_parameters", "/tools_called")
    messages = messages_made(calls, [item.get("output") for item in given], case.get("actual_output"))
    seconds = case.get("completion_time")
    latency = milliseconds(seconds)
    return Trial(name, transcript_of(messages, latency_ms=latency), content)


def _conversation(case: JsonMapping) -> Entry:
    """Return a conversation: up to the agent's first turn it is the input, behind it what was done."""
    messages: list[Message] = []
    for place, turn in enumerate(case["turns"]):
        pointer = f"/turns/{place}"
        item = _snake(object_at(turn, pointer))
        role = item.get("role")
        if role not in ("user", "assistant"):
            raise InvalidDocument.at(f"{pointer}/role", "is neither user nor assistant")
        given = item.get("tools_called") or []
        calls = calls_in(given, "input_parameters", f"{pointer}/tools_called")
        if role == "user" or not calls:
            messages.append(Message(role, item.get("content")))
        else:
            messages += messages_made(calls, [each.get("output") for each in given], item.get("content"))
    start = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    if not start:
        raise InvalidDocument.at("/turns", "do not start with the user")
    content = {"messages": [message.to_document() for message in messages[:start]]}
    losses = unknown_keys(case, _CASE)
    if case.get("expected_outcome"):
        losses = (*losses, Problem("/expected_outcome", "only a judge can check it: left out"))
    row = example_of(_named(case), "deepeval", content, strata=strata_in(_metadata(case)), losses=losses)
    done = messages[start:]
    return Entry(row, Trial(row.external_id, transcript_of(done), content) if done else None, losses)


def _named(case: JsonMapping) -> str | None:
    """Return the case's own name; the names that the library numbers itself say nothing of its content."""
    name = case.get("name")
    numbered = isinstance(name, str) and re.fullmatch(r"(conversational_)?test_case_\d+", name)
    return name if isinstance(name, str) and name and not numbered else None


def _metadata(case: JsonMapping) -> JsonMapping:
    given = case.get("metadata") or case.get("additional_metadata")
    return given if isinstance(given, Mapping) else {}


def _snake(item: JsonMapping) -> JsonObject:
    named = {snake_name(key): value for key, value in item.items()}
    for key in ("tools_called", "expected_tools"):
        if isinstance(calls := named.get(key), list):
            named[key] = [_snake(call) if isinstance(call, Mapping) else call for call in calls]
    return named
