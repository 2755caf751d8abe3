"""Reads OpenInference's conventions: `llm.input_messages.0.message.role` and the like, for Phoenix and Arize.

Source: openinference.semconv.trace (`SpanAttributes`, `MessageAttributes`, `ToolCallAttributes`). traceAI's spans have
the same form below OpenTelemetry's names, `gen_ai.input.messages.0.message.role`, or JSON under
`gen_ai.input.messages`, arguments and results under `gen_ai.tool.call.arguments` and `.result`, and a kind of their
own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.reading.parsing.content import REASONED
from toolevals.grading.reading.parsing.extras import thought_in
from toolevals.grading.reading.telemetry.conventions import genai
from toolevals.grading.reading.telemetry.reading import (
    Attributes,
    Kind,
    SpanReading,
    failure,
    items_of,
    json_or_text,
)
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

NAME = "openinference"
_KIND = ("openinference.span.kind", "fi.span.kind", "gen_ai.span.kind")
_MESSAGES = (
    "llm.input_messages.", "llm.output_messages.", "gen_ai.input.messages.0.", "gen_ai.output.messages.0.",
)  # fmt: skip
# The others (RETRIEVER, RERANKER, EMBEDDING, VECTOR_DB, GUARDRAIL, EVALUATOR, UNKNOWN) are steps, named as they are.
_KINDS: Mapping[str, Kind] = {
    "LLM": "model", "TOOL": "tool", "AGENT": "agent", "CHAIN": "agent", "CONVERSATION": "agent", "WORKFLOW": "agent",
    "A2A_CLIENT": "agent", "A2A_SERVER": "agent",
}  # fmt: skip
_ARGUMENTS, _RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
_SCHEMA = ("tool.parameters", "gen_ai.tool.parameters")
_LISTS: Mapping[str, tuple[str, str]] = {
    "input_messages": ("llm.input_messages.", "gen_ai.input.messages."),
    "output_messages": ("llm.output_messages.", "gen_ai.output.messages."),
    "tools": ("llm.tools.", "gen_ai.tool.definitions."),
}
# The settings of a call, and what input and output repeat.
_KNOWN = (
    "llm.invocation_parameters", "llm.provider", "llm.system", "llm.token_count.", "llm.cost.", "llm.prompt_template",
    "llm.prompts", "llm.function_call", "llm.finish_reason", "tool.parameters", "tool.description", "tag.tags",
    "metadata", "graph.node.", "llm.is_streaming", "llm.choices", "gen_ai.provider.name", "gen_ai.request.",
    "gen_ai.usage.", "gen_ai.tool.definitions", "gen_ai.tool.description", "gen_ai.tool.type",
    "gen_ai.operation.name", "gen_ai.response.", "gen_ai.system", "error.",
)  # fmt: skip


def signs(attributes: Attributes) -> bool:
    """Tell whether a span follows the conventions."""
    names = attributes.span.attributes
    return any(name in _KIND or name.startswith(_MESSAGES) for name in names)


def read(attributes: Attributes) -> SpanReading:
    """Return what the span says."""
    step = attributes.text(*_KIND)
    kind = _KINDS.get(step.upper(), "other")
    attributes.value(*(name for name in attributes.span.attributes if name.startswith(_KNOWN)))
    given, made, given_at, made_at = _given_and_made(attributes, kind)
    llm = {
        name: next((found for prefix in prefixes if (found := attributes.nested(prefix))), None)
        for name, prefixes in _LISTS.items()
    }
    if llm["input_messages"]:
        given, given_at = (
            [message_of(each) for each in items_of(llm["input_messages"])],
            "/attributes/llm.input_messages",
        )
        made, made_at = (
            [message_of(each) for each in items_of(llm["output_messages"])],
            "/attributes/llm.output_messages",
        )
    offered = [json_or_text(at(each, "tool", "json_schema")) for each in items_of(llm["tools"])]
    tools = [tool for tool in offered if isinstance(tool, Mapping)] or genai.tools(attributes)
    tool = attributes.text("tool.name", "gen_ai.tool.name") or (attributes.span.name if kind == "tool" else "")
    resource = attributes.span.resource
    return SpanReading(
        NAME,
        kind,
        given=_arguments(given) if kind == "tool" else given,
        made=made,
        given_at=given_at,
        made_at=made_at,
        step=step,
        tool=tool,
        call_id=attributes.text("gen_ai.tool.call.id", "tool.id", "tool_call.id") or None,
        tools=_own_tool(attributes, tool) if kind == "tool" else tools,
        usage={
            name: count
            for name, count in (
                ("input_tokens", attributes.number("llm.token_count.prompt", "gen_ai.usage.input_tokens")),
                ("output_tokens", attributes.number("llm.token_count.completion", "gen_ai.usage.output_tokens")),
            )
            if count is not None
        },
        cost=attributes.number("llm.cost.total"),
        model=attributes.text("llm.model_name", "gen_ai.request.model"),
        agent=attributes.text("agent.name", "gen_ai.agent.name") or str(resource.get("service.name") or ""),
        agent_version=str(resource.get("service.version") or ""),
        session=attributes.text("session.id", "gen_ai.conversation.id"),
        user=attributes.text("user.id"),
        error=failure(attributes),
    )


def _given_and_made(attributes: Attributes, kind: Kind) -> tuple[Any, Any, str, str]:
    """Return a span's input and output with their pointers: OpenTelemetry's own, or `input.value`, `output.value`."""
    names = attributes.span.attributes
    if kind == "tool" and (_ARGUMENTS in names or _RESULT in names):
        given = attributes.document(_ARGUMENTS) if _ARGUMENTS in names else _value(attributes, "input")
        made = attributes.result(_RESULT) if _RESULT in names else _value(attributes, "output")
        for part in ("input", "output"):
            attributes.value(f"{part}.value", f"{part}.mime_type")
        return given, made, f"/attributes/{_ARGUMENTS}", f"/attributes/{_RESULT}"
    if kind == "model" and not any(name.startswith(_MESSAGES) for name in names) and genai.has_messages(attributes):
        return genai.messages(attributes)
    given, made = _value(attributes, "input"), _value(attributes, "output")
    if kind == "tool" and made is None:
        made = attributes.value("output.value")
    return given, made, "/attributes/input.value", "/attributes/output.value"


def _value(attributes: Attributes, part: str) -> Any:
    kind = attributes.text(f"{part}.mime_type")
    return (attributes.value if kind == "text/plain" else attributes.document)(f"{part}.value")


def _own_tool(attributes: Attributes, name: str) -> list[Any] | None:
    """Return the tool of a span as its instrumentation describes it, where it gives a schema."""
    schema = attributes.document(*_SCHEMA)
    is_schema = isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping)
    return [{"name": name, "description": "", "parameters": schema}] if is_schema else None


def _arguments(given: object) -> Any:
    """Return a tool's arguments: those under `args` or `kwargs` where an instrumentation wrote the call's signature."""
    if isinstance(given, Mapping) and set(given) == {"args", "kwargs"} and not given["args"]:
        return given["kwargs"]
    return given


def message_of(item: object) -> JsonObject:
    """Return a message of OpenInference as one of OpenAI's. Raises InvalidDocument."""
    message = item.get("message") if isinstance(item, Mapping) else None
    if not isinstance(message, Mapping):
        raise InvalidDocument.at("/attributes/llm", "holds a message of another form")
    made: JsonObject = {"role": message.get("role"), "content": message.get("content")}
    parts = [at(each, "message_content") for each in listed_items(message.get("contents"))]
    thoughts = [part for part in parts if at(part, "type") in REASONED]
    if made["content"] is None and parts:
        texts = [at(part, "text") for part in parts if part not in thoughts]
        made["content"] = "\n".join(text for text in texts if isinstance(text, str)) or None
    if thought := thought_in([*thoughts, message.get("reasoning_content")]):
        made["reasoning_content"] = thought
    calls = [at(each, "tool_call") for each in listed_items(message.get("tool_calls"))]
    calls = calls or _calls_in_parts(message)
    if calls:
        made["tool_calls"] = [
            {
                "id": at(call, "id"),
                "type": "function",
                "function": {"name": at(call, "function", "name"), "arguments": at(call, "function", "arguments")},
            }
            for call in calls
        ]
    if name := message.get("function_call_name"):
        function = {"name": name, "arguments": message.get("function_call_arguments_json")}
        made["tool_calls"] = [{"id": None, "type": "function", "function": function}]
    return made | ({"tool_call_id": message["tool_call_id"]} if message.get("tool_call_id") else {})


def _calls_in_parts(message: JsonMapping) -> list[Any]:
    parts = [at(each, "message_content") for each in listed_items(message.get("contents"))]
    return [
        part["tool_call"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("tool_call"), Mapping)
    ]


def listed_items(value: object) -> list[Any]:
    """Return a list, also of an object with positions as keys."""
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value, key=lambda key: int(key) if str(key).isdecimal() else 0)]
    return value if isinstance(value, list) else []


def at(value: object, *path: str) -> Any:
    """Return what stands at a path of keys; None where a key is missing."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
