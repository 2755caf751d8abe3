"""Reads OpenLLMetry's conventions (Traceloop): `gen_ai.prompt.0.role`, `traceloop.span.kind`; others write them too.

Source: opentelemetry.semconv_ai (`SpanAttributes`). Its newer instrumentations write OpenTelemetry's own messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.reading.telemetry.conventions import genai
from toolevals.grading.reading.telemetry.reading import Attributes, Kind, SpanReading, items_of, json_or_text
from toolevals.json_types import JsonObject

NAME = "openllmetry"
_KINDS: Mapping[str, Kind] = {"tool": "tool", "agent": "agent", "workflow": "agent", "task": "other"}
_KNOWN = ("llm.usage.", "llm.headers", "llm.is_streaming", "llm.request.", "traceloop.", "llm.response.")


def signs(attributes: Attributes) -> bool:
    """Tell whether a span follows the conventions."""
    names = attributes.span.attributes
    return any(
        name in ("traceloop.span.kind", "llm.request.type") or name.startswith(("gen_ai.prompt.", "gen_ai.completion."))
        for name in names
    )


def read(attributes: Attributes) -> SpanReading:
    """Return what the span says."""
    kind = _KINDS.get(attributes.text("traceloop.span.kind"))
    if kind is None:
        operation = attributes.text("llm.request.type", "gen_ai.operation.name")
        kind = "model" if operation in ("chat", "completion", "text_completion") else "other"
    common = genai.shared(attributes)
    if kind != "model":
        given = attributes.document("traceloop.entity.input")
        made = (attributes.result if kind == "tool" else attributes.document)("traceloop.entity.output")
        tool = attributes.text("gen_ai.tool.name", "traceloop.entity.name") if kind == "tool" else ""
        attributes.value(*(name for name in attributes.span.attributes if name.startswith(_KNOWN)))
        return SpanReading(
            NAME,
            kind,
            given=_inputs(given) if kind == "tool" else given,
            made=made,
            given_at="/attributes/traceloop.entity.input",
            made_at="/attributes/traceloop.entity.output",
            tool=tool or (attributes.span.name.removesuffix(".tool") if kind == "tool" else ""),
            call_id=attributes.text("gen_ai.tool.call.id") or None,
            **common,
        )
    given, made, given_at, made_at = genai.messages(attributes)
    prompt, completion = (attributes.nested(f"gen_ai.{part}.") for part in ("prompt", "completion"))
    if given is None and made is None:
        given, made = ([_message(each) for each in items_of(part)] or None for part in (prompt, completion))
        given_at, made_at = "/attributes/gen_ai.prompt", "/attributes/gen_ai.completion"
    functions = [_function(each) for each in items_of(attributes.nested("llm.request.functions."))]
    offered = genai.tools(attributes) or [each for each in functions if each] or None
    attributes.value(*(name for name in attributes.span.attributes if name.startswith(_KNOWN)))
    return SpanReading(NAME, kind, given=given, made=made, given_at=given_at, made_at=made_at, tools=offered, **common)


def _message(item: object) -> JsonObject:
    """Return a prompt or a completion as a message of OpenAI's."""
    fields = item if isinstance(item, Mapping) else {}
    content = fields.get("content")
    parts = json_or_text(content)
    made: JsonObject = {"role": fields.get("role") or "assistant"}
    if isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts):
        made["content"] = parts
    else:
        # JSON that is cut is no one's words; of a tool it is part of the result.
        made["content"] = content if parts is not None or made["role"] == "tool" else None
    calls = [
        {
            "id": each.get("id"),
            "type": "function",
            "function": {"name": each.get("name"), "arguments": each.get("arguments")},
        }
        for each in items_of(fields.get("tool_calls"))
        if isinstance(each, Mapping)
    ]
    if calls:
        made["tool_calls"] = calls
    return made | ({"tool_call_id": fields["tool_call_id"]} if fields.get("tool_call_id") else {})


def _function(item: object) -> JsonObject | None:
    """Return a tool; None where its schema is cut."""
    fields = item if isinstance(item, Mapping) else {}
    parameters = json_or_text(fields.get("parameters"))
    if parameters is None and fields.get("parameters"):
        return None
    return {
        "name": fields.get("name"),
        "description": fields.get("description") or "",
        "parameters": parameters if isinstance(parameters, Mapping) else {"type": "object"},
    }


def _inputs(given: object) -> Any:
    """Return a tool's arguments: of a decorated function those that it was called with."""
    if not isinstance(given, Mapping):
        return given
    if set(given) <= {"args", "kwargs"} and not given.get("args"):
        return given.get("kwargs", {})
    # LangChain's callback.
    if isinstance(inner := json_or_text(given.get("input_str")), Mapping):
        return inner
    return given.get("inputs", given) if isinstance(given.get("inputs"), Mapping) else given
