"""Reads Phoenix's spans (OpenInference), of its REST interface or a data frame, and examples of its datasets.

Source: openinference.semconv and Phoenix's `/v1/projects/{id}/spans` and `/v1/datasets/{id}/examples`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import content_of, example_of, expectation_of, json_in
from toolevals.grading.files.evaluation_files.entries import strata_in
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    counted,
    entries_read,
    items_at,
    keys,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, Row
from toolevals.grading.files.evaluation_files.spans import Span, SpanKind, traces_read, with_rows
from toolevals.grading.files.evaluation_files.tables import cell_value, gathered, number_in
from toolevals.grading.reading.telemetry.conventions.openinference import at, listed_items, message_of
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

_EXAMPLE = keys("id node_id input output metadata updated_at created_at splits")
_KINDS: Mapping[str, SpanKind] = {"LLM": "model", "TOOL": "tool"}


def detect_spans(item: object) -> str | None:
    """Return why an item is a span; None where it is none."""
    if not isinstance(item, Mapping) or "span_kind" not in item:
        return None
    if isinstance(item.get("context"), Mapping) or "context.span_id" in item:
        return "entries are spans: they have span_kind and context"
    return None


def detect_examples(document: object) -> str | None:
    """Return why a document holds a dataset's examples; None where it does not."""
    data = document.get("data") if isinstance(document, Mapping) else None
    if isinstance(data, Mapping) and "dataset_id" in data and isinstance(data.get("examples"), list):
        return "data has dataset_id and examples"
    first = document[0] if isinstance(document, list) and document else None
    if isinstance(first, Mapping) and "example_id" in first and any(key.startswith("input_") for key in first):
        return "its columns are example_id, input_ and output_"
    return None


def read_spans(document: object) -> Iterator[Found]:
    """Yield a trial for each trace."""
    listed = document["data"] if isinstance(document, Mapping) and isinstance(document.get("data"), list) else document
    prefix = "/data" if listed is not document else ""
    spans: list[Span] = []
    said: list[Row] = []
    for pointer, item in items_at(listed):
        try:
            if _is_annotation(item):
                said.append(_annotation(item, f"{prefix}{pointer}"))
                continue
            span = _span(object_at(item), f"{prefix}{pointer}")
            spans.append(span)
            for place, each in enumerate(_embedded(item)):
                said.append(_annotation(each, f"{prefix}{pointer}/annotations/{place}", span.id))
        except InvalidDocument as error:
            yield f"{prefix}{pointer}", error
    yield from traces_read(with_rows(spans, said), "phoenix")


def _is_annotation(item: object) -> bool:
    return isinstance(item, Mapping) and {"name", "annotator_kind"} <= item.keys()


def _embedded(item: JsonMapping) -> list[JsonMapping]:
    """Return the annotations that a span holds: as rows, or by their names."""
    given = json_in(item.get("annotations") or item.get("span_annotations"))
    if isinstance(given, Mapping):
        rows = (
            (name, each) for name, found in given.items() for each in (found if isinstance(found, list) else [found])
        )
        given = [{"name": name, **each} for name, each in rows if isinstance(each, Mapping)]
    return [each for each in given if _is_annotation(each)] if isinstance(given, list) else []


def _annotation(item: JsonMapping, pointer: str, span: str = "") -> Row:
    """Return an annotation: of a span, or of a trace where it names one."""
    name, kind = str(item["name"]), str(item["annotator_kind"])
    about = (str(item.get("span_id") or span), str(item.get("trace_id") or ""))
    if kind != "HUMAN":
        return Row(about, None, Problem(pointer, f"{name} is by a program ({kind}), not a person: left out"))
    result = item["result"] if isinstance(item.get("result"), Mapping) else item
    label, score, why = (result.get(key) for key in ("label", "score", "explanation"))
    marks = str(item.get("identifier") or "")
    # An identifier of its own begins so where the page wrote it.
    who = item.get("user_id") or ("" if marks.startswith("px-") else marks)
    value = label if label not in (None, "") else score
    return Row(about, Answer(str(who or ""), name, value, why if isinstance(why, str) else "", pointer=pointer))


def read_examples(document: JsonValue) -> Iterator[Found]:
    """Yield the examples of a dataset, each with its output as what is expected."""
    if isinstance(document, list):
        yield from entries_read(items_at(document), lambda row: _example(_unflattened(row)))
        return
    for pointer, item in items_at(document["data"], "examples"):
        try:
            yield f"/data{pointer}", _example(object_at(item))
        except InvalidDocument as error:
            yield f"/data{pointer}", error


def _unflattened(row: JsonMapping) -> JsonObject:
    """Return a row of a table, with a column for each key, as an example."""
    parts = {name: gathered(row, f"{name}_") for name in ("input", "output", "metadata")}
    others = {name: cell for name, cell in row.items() if not name.startswith(("input_", "output_", "metadata_"))}
    return {"id": others.pop("example_id", None), **parts, **others}


def _example(item: JsonMapping) -> Entry:
    left: list[Problem] = []
    content = content_of(item.get("input"), "/input", left)
    expectation, losses = expectation_of(item.get("output"), "/output")
    metadata = item.get("metadata")
    strata = strata_in(metadata) if isinstance(metadata, Mapping) else {}
    losses = (*left, *losses, *unknown_keys(item, _EXAMPLE))
    row = example_of(item.get("id"), "phoenix", content, expectation=expectation, strata=strata, losses=losses)
    return Entry(row, losses=losses)


def _span(item: JsonMapping, pointer: str) -> Span:
    values = _nested({key: cell_value(value) for key, value in item.items() if value != ""})
    context, attributes = values.get("context") or {}, values.get("attributes") or {}
    name = context.get("span_id")
    if not isinstance(name, str):
        raise InvalidDocument.at("/context/span_id", "is missing")
    kind = _KINDS.get(str(item.get("span_kind")), "other")
    llm = object_in(attributes, "llm")
    if kind == "model" and llm.get("input_messages"):
        given: JsonValue = [message_of(each) for each in listed_items(llm.get("input_messages"))]
        made: Any = [message_of(each) for each in listed_items(llm.get("output_messages"))]
        given_at, made_at = "/attributes/llm/input_messages", "/attributes/llm/output_messages"
    else:
        given, made = (json_in(at(attributes, part, "value")) for part in ("input", "output"))
        given_at, made_at = "/attributes/input/value", "/attributes/output/value"
    counts = counted(
        input_tokens=number_in(at(llm, "token_count", "prompt")),
        output_tokens=number_in(at(llm, "token_count", "completion")),
    )
    tools = [json_in(at(each, "tool", "json_schema")) for each in listed_items(llm.get("tools"))]
    return Span(
        id=name,
        trace=str(context.get("trace_id") or name),
        parent=str(item.get("parent_id") or ""),
        kind=kind,
        name=str(at(attributes, "tool", "name") or item.get("name") or ""),
        given=given,
        made=made,
        start=str(item.get("start_time") or ""),
        pointer=pointer,
        given_at=given_at,
        made_at=made_at,
        error=str(item.get("status_message") or "failed") if item.get("status_code") == "ERROR" else None,
        tools=[tool for tool in tools if isinstance(tool, Mapping)] or None,
        usage=counts,
    )


def _nested(item: JsonMapping) -> JsonObject:
    """Return an object whose keys with dots are objects in objects; `attributes` may be flat by itself."""
    made: JsonObject = {}
    for key, value in item.items():
        inner = _nested(value) if isinstance(value, Mapping) else value
        if isinstance(value, list):
            inner = [_nested(each) if isinstance(each, Mapping) else each for each in value]
        *path, last = str(key).split(".")
        place = made
        for part in path:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise InvalidDocument.at("", f"{key} comes after a value of its beginning")
        if isinstance(inner, dict) and isinstance(place.get(last), dict):
            place[last] |= inner
        else:
            place[last] = inner
    return made
