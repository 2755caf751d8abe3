"""Reads attributes of frameworks that have their own conventions: the AI SDK, Google's ADK, LangSmith's exporter.

Sources: the AI SDK's `packages/ai/core/telemetry`, `google.adk.telemetry`, and `langsmith._internal.otel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolevals.grading.reading.parsing.extras import thought_in
from toolevals.grading.reading.telemetry.conventions import genai
from toolevals.grading.reading.telemetry.reading import Attributes, Kind, SpanReading, items_of, json_or_text
from toolevals.json_types import JsonMapping, JsonObject

AI_SDK, ADK, LANGSMITH = "ai_sdk", "google_adk", "langsmith"
# What spans of the ADK's second version hold that those of the first don't.
_ADK_SHARED = (
    "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions", "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
)  # fmt: skip
_MODEL_ENDS = (".doGenerate", ".doStream")
_LANGSMITH_KINDS: Mapping[str, Kind] = {"llm": "model", "tool": "tool", "chain": "agent"}


def signs_ai_sdk(attributes: Attributes) -> bool:
    """Tell whether a span is the AI SDK's."""
    return "ai.operationId" in attributes


def read_ai_sdk(attributes: Attributes) -> SpanReading:
    """Return what a span of the AI SDK says: a model's call is `doGenerate` or `doStream`, and an agent's around it."""
    operation = attributes.text("ai.operationId", "operation.name")
    common = genai.shared(attributes)
    if operation == "ai.toolCall":
        found = SpanReading(
            AI_SDK,
            "tool",
            given=attributes.document("ai.toolCall.args", "ai.toolCall.input"),
            made=attributes.result("ai.toolCall.result", "ai.toolCall.output"),
            given_at=attributes.first_name("ai.toolCall.args", "ai.toolCall.input"),
            made_at=attributes.first_name("ai.toolCall.result", "ai.toolCall.output"),
            tool=attributes.text("ai.toolCall.name"),
            call_id=attributes.text("ai.toolCall.id") or None,
            **common,
        )
    else:
        tools = [json_or_text(each) for each in items_of(attributes.value("ai.prompt.tools"))]
        found = SpanReading(
            AI_SDK,
            "model" if operation.endswith(_MODEL_ENDS) else "agent",
            given=attributes.document("ai.prompt.messages", "ai.prompt"),
            made=_ai_sdk_answer(attributes),
            given_at=attributes.first_name("ai.prompt.messages", "ai.prompt"),
            made_at="/attributes/ai.response.text",
            tools=[_ai_sdk_tool(tool) for tool in tools if isinstance(tool, Mapping)] or None,
            **common,
        )
    # Settings and measures, and what a person's own metadata says.
    attributes.value(*(name for name in attributes.span.attributes if name.startswith("ai.")), "resource.name")
    return found


def _ai_sdk_answer(attributes: Attributes) -> list[Any] | None:
    text = attributes.text("ai.response.text")
    calls = [each for each in items_of(attributes.document("ai.response.toolCalls")) if isinstance(each, Mapping)]
    if not text and not calls:
        return None
    made: JsonObject = {"role": "assistant", "content": text or None}
    if thought := thought_in(attributes.document("ai.response.reasoning")):
        made["reasoning_content"] = thought
    if calls:
        made["tool_calls"] = [
            {
                "id": call.get("toolCallId"),
                "type": "function",
                "function": {"name": call.get("toolName"), "arguments": call.get("args", call.get("input"))},
            }
            for call in calls
        ]
    return [made]


def _ai_sdk_tool(tool: JsonMapping) -> JsonMapping:
    if tool.get("type", "function") != "function":
        return tool
    return {
        "name": tool.get("name"),
        "description": tool.get("description") or "",
        "parameters": tool.get("inputSchema") or tool.get("parameters") or {"type": "object"},
    }


def signs_adk(attributes: Attributes) -> bool:
    """Tell whether a span is that of Google's ADK with attributes of its own."""
    return any(name.startswith("gcp.vertex.agent.") for name in attributes.span.attributes)


def read_adk(attributes: Attributes) -> SpanReading:
    """Return what a span of Google's ADK says: in its first version by names of its own, later by OpenTelemetry's."""
    if any(name in attributes for name in _ADK_SHARED):
        found = genai.read(attributes)
        attributes.value(*(name for name in attributes.span.attributes if name.startswith("gcp.vertex.agent.")))
        return replace(found, convention=ADK)
    request = attributes.document("gcp.vertex.agent.llm_request")
    response = attributes.document("gcp.vertex.agent.llm_response")
    common = genai.shared(attributes)
    common["session"] = common["session"] or attributes.text("gcp.vertex.agent.session_id")
    arguments = attributes.document("gcp.vertex.agent.tool_call_args")
    result = attributes.result("gcp.vertex.agent.tool_response")
    tool = attributes.text("gen_ai.tool.name")
    call_id = attributes.text("gen_ai.tool.call.id") or None
    attributes.value(*(name for name in attributes.span.attributes if name.startswith("gcp.vertex.agent.")))
    is_cut = request is None and attributes.value("gcp.vertex.agent.llm_request") is not None
    if is_cut or (isinstance(request, Mapping) and request):
        given, tools = (None, None) if is_cut else _gemini_request(request)
        content = response.get("content") if isinstance(response, Mapping) else None
        return SpanReading(
            ADK,
            "model",
            given=given,
            made=[content] if isinstance(content, Mapping) else None,
            given_at="/attributes/gcp.vertex.agent.llm_request",
            made_at="/attributes/gcp.vertex.agent.llm_response",
            tools=tools,
            **common,
        )
    operation = attributes.text("gen_ai.operation.name")
    if operation != "execute_tool" or not tool or tool == "(merged tools)":
        return SpanReading(ADK, "agent" if operation == "invoke_agent" else "other", **common)
    return SpanReading(
        ADK,
        "tool",
        given=arguments,
        made=result,
        given_at="/attributes/gcp.vertex.agent.tool_call_args",
        made_at="/attributes/gcp.vertex.agent.tool_response",
        tool=tool,
        call_id=call_id,
        **common,
    )


def _gemini_request(request: JsonMapping) -> tuple[Any, list[Any] | None]:
    settings = request.get("config")
    settings = settings if isinstance(settings, Mapping) else {}
    contents = request.get("contents")
    given = list(contents) if isinstance(contents, list) else []
    system = settings.get("system_instruction")
    if isinstance(system, str) and system:
        given = [{"role": "system", "parts": [{"text": system}]}, *given]
    tools = settings.get("tools")
    return given, tools if isinstance(tools, list) and tools else None


def signs_langsmith(attributes: Attributes) -> bool:
    """Tell whether a span is of LangSmith's exporter."""
    return "langsmith.span.kind" in attributes


def read_langsmith(attributes: Attributes) -> SpanReading:
    """Return what a span of LangSmith's exporter says: a run's inputs and outputs as JSON."""
    kind = _LANGSMITH_KINDS.get(attributes.text("langsmith.span.kind", "gen_ai.operation.name").lower(), "other")
    common = genai.shared(attributes)
    given = attributes.document("gen_ai.prompt")
    made = (attributes.result if kind == "tool" else attributes.document)("gen_ai.completion")
    parameters = attributes.document("langsmith.metadata.invocation_params", "langsmith.invocation_params")
    offered = parameters.get("tools") if isinstance(parameters, Mapping) else None
    common["session"] = common["session"] or attributes.text(
        "langsmith.trace.session_id", "langsmith.metadata.thread_id"
    )
    attributes.value(
        *(name for name in attributes.span.attributes if name.startswith(("langsmith.", "gen_ai.serialized")))
    )
    return SpanReading(
        LANGSMITH,
        kind,
        given=_tool_input(given) if kind == "tool" else given,
        made=_tool_output(made) if kind == "tool" else made,
        given_at="/attributes/gen_ai.prompt",
        made_at="/attributes/gen_ai.completion",
        tool=(attributes.text("gen_ai.tool.name") or attributes.span.name) if kind == "tool" else "",
        call_id=attributes.text("gen_ai.tool.call.id") or None,
        tools=genai.tools(attributes) or (offered if isinstance(offered, list) else None),
        **common,
    )


def _tool_input(given: object) -> Any:
    return given["input"] if isinstance(given, Mapping) and set(given) == {"input"} else given


def _tool_output(made: object) -> Any:
    inner = made["output"] if isinstance(made, Mapping) and set(made) == {"output"} else made
    return inner["content"] if isinstance(inner, Mapping) and "content" in inner else inner
