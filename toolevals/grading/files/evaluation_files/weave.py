"""Reads calls of Weave, as its interface answers `calls/stream_query` and its pages export them: JSON or JSON Lines.

A call is a span of a traced function. Those of models hold a provider's request as inputs, and its response as output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolevals.grading.files.evaluation_files.entry import (
    Found,
    counted,
    items_at,
    keys,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, Row
from toolevals.grading.files.evaluation_files.spans import Span, SpanKind, traces_read
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_CALL: Final = keys(
    "id project_id op_name display_name trace_id parent_id thread_id turn_id started_at ended_at exception attributes "
    "inputs output summary wb_user_id wb_run_id wb_run_step wb_run_step_end deleted_at feedback storage_size_bytes "
    "total_storage_size_bytes expire_at"
)
_KINDS: Final[Mapping[str, SpanKind]] = {"llm": "model", "tool": "tool"}
_MESSAGES: Final = ("messages", "contents", "input")
_ANNOTATION: Final = "wandb.annotation."
_REFERENCE: Final = "weave:///"


def detect(item: object) -> str | None:
    """Return why an item is a call of Weave; None where it is none."""
    if isinstance(item, Mapping) and item.keys() >= {"op_name", "trace_id", "inputs", "output"}:
        return "entries are calls: they have op_name, trace_id, inputs and output"
    return None


def read(document: object) -> Iterator[Found]:
    """Yield a trial for each trace."""
    calls: list[tuple[str, JsonMapping]] = []
    for pointer, item in items_at(document):
        try:
            call = object_at(item)
            if not isinstance(call.get("id"), str) or not call["id"]:
                raise InvalidDocument.at("/id", "is missing: it is a call without id")
            _require_there(call)
            calls.append((pointer, call))
        except InvalidDocument as error:
            yield pointer, error
    parents = {call.get("parent_id") for _, call in calls}
    yield from traces_read((_span(pointer, call, parents) for pointer, call in calls), "weave")


def _require_there(call: JsonMapping) -> None:
    """Require that messages and output are in the file. Raises InvalidDocument."""
    inputs = object_in(call, "inputs")
    places = [("/output", call.get("output")), *((f"/inputs/{key}", inputs.get(key)) for key in _MESSAGES)]
    for pointer, value in places:
        if isinstance(value, str) and value.startswith(_REFERENCE):
            raise InvalidDocument.at(pointer, "is a reference: export the calls with their references resolved")


def _span(pointer: str, call: JsonMapping, parents: set[Any]) -> Span:
    kind = _kind(call, is_leaf=call["id"] not in parents)
    inputs = object_in(call, "inputs")
    given = {key: value for key, value in inputs.items() if key != "self"}
    asked = next((key for key in _MESSAGES if isinstance(inputs.get(key), list)), "")
    exception = call.get("exception")
    return Span(
        id=call["id"],
        trace=str(call.get("trace_id") or call["id"]),
        parent=str(call.get("parent_id") or ""),
        kind=kind,
        name=_name(call),
        given=inputs[asked] if kind == "model" and asked else given,
        made=call.get("output"),
        start=str(call.get("started_at") or ""),
        pointer=pointer,
        given_at=f"/inputs/{asked}" if kind == "model" and asked else "/inputs",
        made_at="/output",
        error=exception if isinstance(exception, str) and exception else None,
        tools=inputs["tools"] if isinstance(inputs.get("tools"), list) else None,
        usage=_usage(call),
        losses=(*unknown_keys(call, _CALL), *(row.loss for row in _feedback(call) if row.loss is not None)),
        answers=tuple(row.answer for row in _feedback(call) if row.answer is not None),
    )


def _feedback(call: JsonMapping) -> list[Row]:
    """Return what people said of a call: annotations, notes and reactions; what a scorer said is a loss."""
    given = object_in(object_in(call, "summary"), "weave").get("feedback", call.get("feedback"))
    rows: list[Row] = []
    for place, each in enumerate(given if isinstance(given, list) else ()):
        feedback = object_at(each, f"/summary/weave/feedback/{place}")
        kind, payload = str(feedback.get("feedback_type") or ""), object_in(feedback, "payload")
        author = str(feedback.get("creator") or feedback.get("wb_user_id") or "")
        pointer = f"/summary/weave/feedback/{place}"
        if kind.startswith(_ANNOTATION):
            answer = Answer(author, kind.removeprefix(_ANNOTATION), payload.get("value"), pointer=pointer)
        elif kind.startswith("wandb.note"):
            answer = Answer(author, "note", payload.get("note"), pointer=pointer)
        elif kind.startswith("wandb.reaction"):
            answer = Answer(author, "thumbs", payload.get("detoned") or payload.get("emoji"), pointer=pointer)
        else:
            loss = Problem(pointer, f"{kind or 'feedback'} is by a program, not a person: left out")
            rows.append(Row((), None, loss))
            continue
        rows.append(Row((), answer))
    return rows


def _kind(call: JsonMapping, *, is_leaf: bool) -> SpanKind:
    """Return what a call is: as its function was marked, else a model's where it holds messages and calls no other."""
    marked = object_in(object_in(call, "attributes"), "weave").get("kind")
    if isinstance(marked, str):
        return _KINDS.get(marked, "other")
    inputs = object_in(call, "inputs")
    return "model" if is_leaf and any(isinstance(inputs.get(key), list) for key in _MESSAGES) else "other"


def _name(call: JsonMapping) -> str:
    """Return the name of the function in a reference such as `weave:///team/project/op/name:version`."""
    return str(call.get("op_name") or "").rpartition("/")[2].partition(":")[0]


def _usage(call: JsonMapping) -> dict[str, float]:
    usage: dict[str, float] = {}
    for each in object_in(object_in(call, "summary"), "usage").values():
        counts = each if isinstance(each, Mapping) else {}
        said = counted(
            input_tokens=counts.get("input_tokens", counts.get("prompt_tokens")),
            output_tokens=counts.get("output_tokens", counts.get("completion_tokens")),
        )
        for name, count in said.items():
            usage[name] = usage.get(name, 0) + count
    return usage
