"""Reads evaluation sets and results of Google's ADK (`*.evalset.json`, `*.evalset_result.json`).

Source: google.adk.evaluation (`EvalSet`, `EvalCase`, `Invocation`, `EvalSetResult`), in snake or camel case, and the
older list of `{"query", "expected_tool_use", "reference"}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import (
    example_of,
    expected_in_order,
    transcript_of,
)
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    object_at,
    snake_name,
    unknown_keys,
)
from toolevals.grading.reading.parsing.content import result_text, text_in
from toolevals.grading.reading.parsing.json_calls import call_of
from toolevals.grading.values import Call, Message
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

_CASE = keys("eval_id conversation conversation_scenario session_input creation_timestamp rubrics final_session_state")
_INVOCATION = keys("invocation_id user_content final_response intermediate_data creation_timestamp rubrics app_details")
REFERENCE = "is a reference for a judge: kept as the rationale, not expected in the answer"
_STATE = "the session's state has no form here: left out"


def detect_set(document: object) -> str | None:
    """Return why a document is an evaluation set; None where it is none."""
    if isinstance(document, Mapping) and isinstance(_get(document, "eval_cases"), list):
        return "has eval_cases"
    first = document[0] if isinstance(document, list) and document else None
    if isinstance(first, Mapping) and "query" in first and "expected_tool_use" in first:
        return "entries have query and expected_tool_use"
    return None


def detect_result(document: object) -> str | None:
    """Return why a document is the result of one; None where it is none."""
    outer = _result(document)
    if isinstance(outer, Mapping) and isinstance(_get(outer, "eval_case_results"), list):
        return "has eval_case_results"
    return None


def read_set(document: JsonValue) -> Iterator[Found]:
    """Yield an example for each invocation of each case, with what was said before it."""
    if isinstance(document, list):
        before: list[JsonObject] = []
        yield from entries_read(items_at(document), lambda item: _older(item, before))
        return
    key = "eval_cases" if "eval_cases" in document else "evalCases"
    for pointer, case in items_at(document, key):
        try:
            yield from _case(_plain(object_at(case)), pointer)
        except InvalidDocument as error:
            yield pointer, error


def read_result(document: object) -> Iterator[Found]:
    """Yield an entry for each invocation that was run: the expected one as example, the actual one as its trial."""
    outer = _result(document)
    key = "eval_case_results" if "eval_case_results" in outer else "evalCaseResults"
    for pointer, item in items_at(outer, key):
        result = _plain(object_at(item, pointer))
        name = str(result.get("eval_id") or "")
        done = result.get("eval_metric_result_per_invocation")
        if not isinstance(done, list) or not name:
            yield pointer, InvalidDocument.at("", "has no eval_id or no eval_metric_result_per_invocation")
            continue
        before: list[JsonObject] = []
        for place, each in enumerate(done):
            where = f"{pointer}/eval_metric_result_per_invocation/{place}"
            try:
                yield where, _ran(_plain(object_at(each)), _numbered(name, place, len(done)), before)
            except InvalidDocument as error:
                yield where, error


def _case(case: JsonMapping, pointer: str) -> Iterator[Found]:
    name = case.get("eval_id")
    if not isinstance(name, str) or not name:
        raise InvalidDocument.at("/eval_id", "is missing")
    conversation = case.get("conversation")
    if not isinstance(conversation, list):
        raise InvalidDocument.at(
            "/conversation", "is missing: a scenario without a conversation says nothing of the calls that are expected"
        )
    before: list[JsonObject] = []
    state = case.get("session_input")
    losses = unknown_keys(case, _CASE)
    if isinstance(state, Mapping) and state.get("state"):
        losses = (*losses, Problem("/session_input/state", _STATE))
    for place, item in enumerate(conversation):
        where = f"/conversation/{place}"
        try:
            yield (
                f"{pointer}{where}",
                _invocation(
                    _plain(object_at(item)),
                    _numbered(name, place, len(conversation)),
                    before,
                    losses if not place else (),
                ),
            )
        except InvalidDocument as error:
            raise error.below(where) from None


def _invocation(item: JsonMapping, name: str, before: list[JsonObject], losses: tuple[Problem, ...] = ()) -> Entry:
    """Return an invocation as an example; `before` grows by what was said in it."""
    words = _words(item.get("user_content"))
    if not words:
        raise InvalidDocument.at("/user_content", "holds no text")
    before.append({"role": "user", "content": words})
    content = {"messages": list(before)}
    calls, final = _calls(item), _words(item.get("final_response"))
    # Without intermediate data nothing is said of calls.
    known = item.get("intermediate_data") is not None
    expectation = expected_in_order(calls, "/intermediate_data/tool_uses") if known else None
    losses = (*losses, *unknown_keys(item, _INVOCATION))
    if final:
        losses = (*losses, Problem("/final_response", REFERENCE))
        before.append({"role": "assistant", "content": final})
    row = example_of(name, "adk", content, expectation=expectation, rationale=final or "", losses=losses)
    return Entry(row, losses=losses)


def _ran(item: JsonMapping, name: str, before: list[JsonObject]) -> Entry:
    actual = _plain(object_at(item.get("actual_invocation"), "/actual_invocation"))
    expected = item.get("expected_invocation")
    # Without an expected invocation the example is still to be labelled.
    given = _plain(expected) if isinstance(expected, Mapping) else {"user_content": actual.get("user_content")}
    entry = _invocation(given, name, before)
    if entry.example is None:
        return entry
    calls, results = _calls(actual), _results(actual)
    messages: list[Message] = []
    for place, call in enumerate(calls):
        identifier = call.id or f"call-{place + 1}"
        messages.append(Message("assistant", None, (call_of(call.name, getattr(call, "arguments", None), identifier),)))
        if (result := results.get(call.id or call.name or "")) is not None:
            messages.append(Message("tool", result, call_id=identifier))
    if final := _words(actual.get("final_response")):
        messages.append(Message("assistant", final))
    return Entry(entry.example, Trial(name, transcript_of(messages), entry.example.input), entry.losses)


def _older(item: JsonMapping, before: list[JsonObject]) -> Entry:
    words = item.get("query")
    if not isinstance(words, str) or not words:
        raise InvalidDocument.at("/query", "is not text")
    before.append({"role": "user", "content": words})
    content = {"messages": list(before)}
    uses = item.get("expected_tool_use")
    calls: list[Call] = []
    for place, use in enumerate(uses if isinstance(uses, list) else ()):
        each = object_at(use, f"/expected_tool_use/{place}")
        calls.append(call_of(each.get("tool_name"), each.get("tool_input"), None, shown_as=dict(each)))
    known = frozenset(("query", "expected_tool_use", "reference", "expected_intermediate_agent_responses"))
    losses = unknown_keys(item, known)
    final = item.get("reference")
    if isinstance(final, str) and final:
        losses = (*losses, Problem("/reference", REFERENCE))
        before.append({"role": "assistant", "content": final})
    expectation = expected_in_order(calls, "/expected_tool_use")
    rationale = final if isinstance(final, str) else ""
    return Entry(
        example_of(None, "adk", content, expectation=expectation, rationale=rationale, losses=losses), losses=losses
    )


def _calls(item: JsonMapping) -> tuple[Call, ...]:
    return tuple(
        call_of(each.get("name"), each.get("args"), each["id"] if isinstance(each.get("id"), str) else None,
                shown_as=dict(each))
        for each in _parts(item, "tool_uses", "function_call")
    )  # fmt: skip


def _results(item: JsonMapping) -> dict[str, str]:
    return {
        str(each.get("id") or each.get("name")): result_text(each.get("response"))
        for each in _parts(item, "tool_responses", "function_response")
    }


def _parts(item: JsonMapping, key: str, part: str) -> Iterator[JsonObject]:
    """Yield the calls, or the results, of an invocation: listed, or as parts of the events that led to them."""
    data = _plain(item["intermediate_data"]) if isinstance(item.get("intermediate_data"), Mapping) else {}
    listed = data.get(key)
    for each in listed if isinstance(listed, list) else ():
        yield dict(object_at(each, f"/intermediate_data/{key}"))
    events = data.get("invocation_events")
    for event in events if isinstance(events, list) else ():
        content = event.get("content") if isinstance(event, Mapping) else None
        parts = content.get("parts") if isinstance(content, Mapping) else None
        for each in parts if isinstance(parts, list) else ():
            if isinstance(each, Mapping) and isinstance(found := _get(each, part), Mapping):
                yield dict(found)


def _words(content: object) -> str | None:
    return text_in(content.get("parts")) if isinstance(content, Mapping) else None


def _numbered(name: str, place: int, count: int) -> str:
    return name if count == 1 else f"{name}-{place + 1}"


def _result(document: object) -> Any:
    """Return a result; some versions write it as JSON text in JSON."""
    if isinstance(document, str):
        try:
            return load_json(document, max_bytes=100_000_000)
        except InvalidDocument:
            return document
    return document


def _plain(item: JsonMapping) -> JsonObject:
    return {snake_name(key): value for key, value in item.items()}


def _get(item: JsonMapping, key: str) -> Any:
    camel = "".join([part.capitalize() if at else part for at, part in enumerate(key.split("_"))])
    return item.get(key, item.get(camel))
