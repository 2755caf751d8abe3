"""Reads OpenTelemetry's conventions for generative AI, in their newest form and in those with events of messages.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/, versions 1.28 (messages as events) to 1.39 (messages as
attributes), and the names that Pydantic AI's spans had before the conventions had them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from toolevals.grading.reading.parsing.extras import thought_in
from toolevals.grading.reading.telemetry.reading import Attributes, Kind, SpanReading, failure, items_of, json_or_text
from toolevals.json_types import JsonMapping, JsonObject

NAME = "otel_genai"
_KINDS: Mapping[str, Kind] = {
    "chat": "model", "generate_content": "model", "text_completion": "model", "execute_tool": "tool",
    "invoke_agent": "agent", "create_agent": "agent", "invoke_workflow": "agent", "plan": "agent",
}  # fmt: skip
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_DETAILS = "gen_ai.client.inference.operation.details"
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "gen_ai.tool.arguments", "input")
_RESULT = ("gen_ai.tool.call.result", "tool_response", "gen_ai.tool.result", "gen_ai.tool.output", "output")
_PARAMETER = re.compile(r"code\.function\.parameters\.([^.]+)\.value")
# The settings of a call, the words of frameworks about themselves, and what other attributes repeat.
_KNOWN = (
    "gen_ai.system", "gen_ai.provider.name", "gen_ai.request.", "gen_ai.response.", "gen_ai.output.type",
    "gen_ai.usage.", "gen_ai.tool.type", "gen_ai.tool.description", "gen_ai.agent.id", "gen_ai.agent.description",
    "gen_ai.token.type", "gen_ai.openai.", "gen_ai.aggregated_usage.", "logfire.", "final_result",
    "gen_ai.data_source.id", "gen_ai.workflow.name", "gen_ai.prompt.name", "pydantic_ai.variable_instructions",
    "model_name", "openai.request.", "openai.response.", "openai.api.", "gen_ai.choice.", "gen_ai.agent.call.",
)  # fmt: skip
_EVENT_ROLES = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool", "gen_ai.choice": "choice",
}  # fmt: skip


# The events of spans, and log records, that are read.
EVENTS = frozenset((*_EVENT_ROLES, _DETAILS, "gen_ai.content.prompt", "gen_ai.content.completion", "exception"))


def signs(attributes: Attributes) -> bool:
    """Tell whether a span follows the conventions."""
    return any(name.startswith(("gen_ai.", "mcp.")) for name in attributes.span.attributes) or any(
        event.name.startswith("gen_ai.") for event in attributes.span.events
    )


def read(attributes: Attributes) -> SpanReading:
    """Return what the span says."""
    kind = _kind(attributes)
    common = shared(attributes)
    if kind == "tool":
        given, made = attributes.document(*_ARGUMENTS), attributes.result(*_RESULT)
        return SpanReading(
            NAME,
            kind,
            given=_parameters(attributes) if given is None else given,
            made=attributes.result("code.function.return.value") if made is None else made,
            given_at=attributes.first_name(*_ARGUMENTS),
            made_at=attributes.first_name(*_RESULT),
            tool=attributes.text("gen_ai.tool.name", "mcp.tool.name") or _tool_in_name(attributes),
            call_id=attributes.text("gen_ai.tool.call.id", "jsonrpc.request.id") or None,
            **common,
        )
    given, made, given_at, made_at = messages(attributes)
    return SpanReading(
        NAME, kind, given=given, made=made, given_at=given_at, made_at=made_at, tools=tools(attributes), **common
    )


def _parameters(attributes: Attributes) -> Any:
    """Return the arguments of a function that the instrumentation of Google's client ran, one attribute each."""
    names = (_PARAMETER.fullmatch(name) for name in attributes.span.attributes)
    return {found[1]: attributes.document(found[0]) for found in names if found} or None


def _kind(attributes: Attributes) -> Kind:
    operation = attributes.text("gen_ai.operation.name")
    if operation in _KINDS:
        return _KINDS[operation]
    if attributes.text("mcp.method.name") == "tools/call":
        return "tool"
    if operation or "mcp.method.name" in attributes:
        return "other"
    # Before operations were named.
    if "gen_ai.tool.name" in attributes:
        return "tool"
    return "model" if "gen_ai.request.model" in attributes else "other"


def _tool_in_name(attributes: Attributes) -> str:
    """Return the tool that a span is named for: `execute_tool NAME`, `tools/call NAME`, `running tool: NAME`."""
    name = attributes.span.name
    for before in ("execute_tool ", "tools/call ", "running tool: "):
        if name.startswith(before):
            return name[len(before) :]
    return name


def shared(attributes: Attributes) -> JsonObject:
    """Return what spans of every kind say: tokens, cost, model, agent, session, user, and the error."""
    known = [name for name in attributes.span.attributes if name.startswith(_KNOWN)]
    resource = attributes.span.resource
    usage = {
        "input_tokens": attributes.number("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        "output_tokens": attributes.number("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    }
    found = {
        "usage": {name: count for name, count in usage.items() if count is not None},
        "cost": attributes.number("operation.cost", "gen_ai.usage.cost", "gen_ai.cost"),
        "model": attributes.text("gen_ai.response.model", "gen_ai.request.model"),
        "agent": attributes.text("gen_ai.agent.name", "agent_name") or _text(resource.get("service.name")),
        "agent_version": attributes.text("gen_ai.agent.version") or _text(resource.get("service.version")),
        "session": attributes.text("gen_ai.conversation.id", "session.id"),
        "user": attributes.text("user.id", "enduser.id"),
        "error": failure(attributes),
    }
    attributes.value(*known)
    return found


def tools(attributes: Attributes) -> list[Any] | None:
    """Return the definitions of tools that a model was offered."""
    found = attributes.document("gen_ai.tool.definitions", "gen_ai.request.tools")
    offered = [json_or_text(item) for item in items_of(found)]
    parameters = attributes.document("model_request_parameters")
    if not offered and isinstance(parameters, Mapping):
        offered = [_function_tool(item) for item in items_of(parameters.get("function_tools"))]
    return [item for item in offered if isinstance(item, Mapping)] or None


def _function_tool(item: object) -> Any:
    """Return a tool of Pydantic AI's request parameters as name, description and parameters."""
    if not isinstance(item, Mapping) or "parameters_json_schema" not in item:
        return item
    return {
        "name": item.get("name"),
        "description": item.get("description") or "",
        "parameters": item["parameters_json_schema"],
    }


def has_messages(attributes: Attributes) -> bool:
    """Tell whether a span holds messages in the newest form."""
    return (
        _INPUT in attributes or _OUTPUT in attributes or any(each.name == _DETAILS for each in attributes.span.events)
    )


def messages(attributes: Attributes) -> tuple[Any, Any, str, str]:
    """Return what a model was given and what it made, as messages, with the pointers of both."""
    for event in attributes.span.events:
        if event.name == _DETAILS and (_INPUT in event.attributes or _OUTPUT in event.attributes):
            return (*_with_system(event.attributes), f"/events/{_DETAILS}/{_INPUT}", f"/events/{_DETAILS}/{_OUTPUT}")
    if _INPUT in attributes or _OUTPUT in attributes:
        names = (_INPUT, _OUTPUT, "gen_ai.system_instructions")
        found = {name: attributes.document(name) for name in names}
        return (*_with_system(found), f"/attributes/{_INPUT}", f"/attributes/{_OUTPUT}")
    whole = attributes.document("pydantic_ai.all_messages", "all_messages_events")
    attributes.value("gen_ai.system_instructions")
    kept = attributes.document("events")
    if isinstance(kept, list):
        given, made = _of_events(item for item in kept if isinstance(item, Mapping))
        return (*_with_answer(given, made), "/attributes/events", "/attributes/events")
    said = [{**event.attributes, "event.name": event.name} for event in attributes.span.events]
    if any(each["event.name"] in _EVENT_ROLES for each in said):
        return (*_of_events(said), "/events", "/events")
    if isinstance(whole, list):
        return None, _own(whole), "", attributes.first_name("pydantic_ai.all_messages", "all_messages_events")
    if "gen_ai.prompt" in attributes or "gen_ai.completion" in attributes:
        given, made = attributes.document("gen_ai.prompt"), attributes.document("gen_ai.completion")
        return given, made, "/attributes/gen_ai.prompt", "/attributes/gen_ai.completion"
    return (*_of_contents(said), "/events/gen_ai.content.prompt", "/events/gen_ai.content.completion")


def _own(whole: list[Any]) -> list[Any]:
    """Return an agent's messages; those of the older form are events."""
    if all(isinstance(item, Mapping) and "event.name" in item for item in whole):
        given, made = _of_events(whole)
        return [*items_of(given), *items_of(made)]
    return whole


def _with_system(found: JsonMapping) -> tuple[Any, Any]:
    given, made = json_or_text(found.get(_INPUT)), json_or_text(found.get(_OUTPUT))
    system = json_or_text(found.get("gen_ai.system_instructions"))
    if system and isinstance(given, list):
        parts = system if isinstance(system, list) else [{"type": "text", "content": str(system)}]
        given = [{"role": "system", "parts": parts}, *given]
    return given, made


def _of_events(events: Iterable[JsonMapping]) -> tuple[Any, Any]:
    """Return the messages of events, one event a message: those given, and the choice that was made."""
    given: list[Any] = []
    made: list[Any] = []
    for event in events:
        role = _EVENT_ROLES.get(str(event.get("event.name"))) if "event.name" in event else _role_of(event)
        # Azure's clients hold the body as text under a name of the convention's first version.
        kept = event.get("event.body", event.get("body", event.get("gen_ai.event.content")))
        body = json_or_text(kept)
        if kept is not None and body is None:
            continue
        fields = body if isinstance(body, Mapping) else event
        if role == "choice":
            inner = json_or_text(fields.get("message"))
            made.append(_message("assistant", inner if isinstance(inner, Mapping) else fields, fields))
        elif role is not None:
            given.append(_message(str(fields.get("role") or role), fields, fields))
    return given or None, made or None


def _with_answer(given: Any, made: Any) -> tuple[Any, Any]:
    """Return both; without a choice, what the assistant says last was made: Logfire lists the answer of an agent so."""
    said = [message["role"] == "assistant" for message in items_of(given)]
    if made is not None or not said or not said[-1]:
        return given, made
    first = len(said) - next((place for place, mine in enumerate(reversed(said)) if not mine), len(said))
    return given[:first] or None, given[first:]


def _role_of(event: JsonMapping) -> str | None:
    """Return the role of an event in a list that has no name: a choice has a message, all else its role."""
    role = event.get("role")
    return "choice" if isinstance(event.get("message"), Mapping) else role if isinstance(role, str) else None


def _message(role: str, fields: JsonMapping, around: JsonMapping) -> JsonObject:
    message: JsonObject = {"role": role, "content": fields.get("content")}
    if thought := thought_in([fields.get(key) for key in ("reasoning_content", "reasoning")]):
        message["reasoning_content"] = thought
    calls = json_or_text(fields.get("tool_calls", around.get("tool_calls")))
    if isinstance(calls, list) and calls:
        message["tool_calls"] = calls
    if role == "tool" and isinstance(identifier := fields.get("id", fields.get("tool_call_id")), str):
        message["tool_call_id"] = identifier
    if isinstance(message["content"], str | list | None):
        return message
    if isinstance(message["content"], Mapping) and role != "tool":
        return message | {"content": [message["content"]]}
    return message | {"content": str(message["content"])}


def _of_contents(events: Iterable[JsonMapping]) -> tuple[Any, Any]:
    """Return the prompt and the completion of the oldest form, one event each with JSON."""
    prompt = completion = None
    for event in events:
        if event["event.name"] == "gen_ai.content.prompt":
            prompt = json_or_text(event.get("gen_ai.prompt"))
        elif event["event.name"] == "gen_ai.content.completion":
            completion = json_or_text(event.get("gen_ai.completion"))
    return prompt, completion


def _text(value: object) -> str:
    return value if isinstance(value, str) and value != "unknown_service" else ""
