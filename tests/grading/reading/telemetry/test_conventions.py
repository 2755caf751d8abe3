"""The forms of conventions that no library here writes any more, or only a service's own: after their sources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolevals.grading.reading.parsing import read_transcript
from toolevals.grading.reading.telemetry.conventions import CONVENTIONS, reading_of
from toolevals.grading.reading.telemetry.otlp import SpanEvent, TelemetrySpan
from toolevals.grading.reading.telemetry.reading import SpanReading
from toolevals.grading.values import ToolCall

ARGUMENTS = {"id": "A-1"}
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "A-1"}'}}


def reading(attributes: dict[str, Any], *events: SpanEvent, name: str = "span", **fields: Any) -> SpanReading:
    return reading_of(TelemetrySpan("1" * 32, "1" * 16, "", name, 0, 1, attributes, events, **fields))


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name, 0, attributes)


def spoken(found: SpanReading) -> list[tuple[str, str | None, list[tuple[str, dict[str, Any]]]]]:
    """Return the messages that a model was given and made: role, text, calls."""
    transcript = read_transcript([*found.given, *found.made]).transcript
    return [
        (each.role, each.content, [(call.name, call.arguments) for call in each.calls if isinstance(call, ToolCall)])
        for each in transcript.messages
    ]


EXPECTED = [("user", "Where is A-1?", []), ("assistant", None, [("get_order", ARGUMENTS)])]
USER = {"role": "user", "content": "Where is A-1?"}
CASES: dict[str, tuple[dict[str, Any], tuple[SpanEvent, ...]]] = {
    "logfire": (
        {
            "logfire.msg": "Chat Completion with 'model-x'",
            "gen_ai.operation.name": "chat",
            "request_data": json.dumps({"model": "model-x", "messages": [USER]}),
            "response_data": json.dumps({"message": {"role": "assistant", "tool_calls": [OPENAI_CALL]}, "usage": {}}),
            "async": False,
        },
        (),
    ),
    "logfire, an agent's call": (
        {
            "logfire.msg_template": "Chat completion with {gen_ai.request.model!r}",
            "input": json.dumps([USER]),
            "output": json.dumps([{"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}]),
            "request_data": json.dumps({"messages": [USER, {"role": "assistant", "tool_calls": [OPENAI_CALL]}]}),
            "usage": "{}",
        },
        (),
    ),
    "otel_genai, events whose last one is the answer": (
        {
            "gen_ai.operation.name": "chat",
            "events": json.dumps(
                [
                    {"event.name": "gen_ai.user.message", **USER},
                    {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": [OPENAI_CALL]},
                ]
            ),
        },
        (),
    ),
    "otel_genai, events without names": (
        {
            "gen_ai.operation.name": "chat",
            "events": json.dumps([USER, {"index": 0, "message": {"role": "assistant", "tool_calls": [OPENAI_CALL]}}]),
        },
        (),
    ),
    "otel_genai, the prompt as an attribute": (
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt": json.dumps([USER]),
            "gen_ai.completion": json.dumps([{"role": "assistant", "tool_calls": [OPENAI_CALL]}]),
        },
        (),
    ),
    "otel_genai, an event for each message": (
        {"gen_ai.operation.name": "chat"},
        (
            event("gen_ai.user.message", content="Where is A-1?"),
            event("gen_ai.choice", index=0, finish_reason="tool_calls", tool_calls=json.dumps([OPENAI_CALL])),
        ),
    ),
    "otel_genai, events with a body": (
        {"gen_ai.operation.name": "chat"},
        (
            event("gen_ai.user.message", **{"event.body": json.dumps({"content": "Where is A-1?"})}),
            event("gen_ai.choice", **{"event.body": json.dumps({"message": {"tool_calls": [OPENAI_CALL]}})}),
        ),
    ),
    "otel_genai, events as one attribute": (
        {
            "gen_ai.operation.name": "chat",
            "events": json.dumps(
                [
                    {"event.name": "gen_ai.user.message", **USER},
                    {
                        "event.name": "gen_ai.choice",
                        "index": 0,
                        "message": {"role": "assistant", "tool_calls": [OPENAI_CALL]},
                    },
                ]
            ),
        },
        (),
    ),
    "otel_genai, prompt and completion": (
        {"gen_ai.operation.name": "chat"},
        (
            event("gen_ai.content.prompt", **{"gen_ai.prompt": json.dumps([USER])}),
            event(
                "gen_ai.content.completion",
                **{"gen_ai.completion": json.dumps([{"role": "assistant", "tool_calls": [OPENAI_CALL]}])},
            ),
        ),
    ),
    "otel_genai, details of the operation": (
        {"gen_ai.operation.name": "chat"},
        (
            event(
                "gen_ai.client.inference.operation.details",
                **{
                    "gen_ai.input.messages": [
                        {"role": "user", "parts": [{"type": "text", "content": "Where is A-1?"}]}
                    ],
                    "gen_ai.output.messages": [
                        {
                            "role": "assistant",
                            "parts": [{"type": "tool_call", "id": "c1", "name": "get_order", "arguments": ARGUMENTS}],
                        }
                    ],
                },
            ),
        ),
    ),
    "openllmetry": (
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Where is A-1?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "get_order",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"id": "A-1"}',
        },
        (),
    ),
    "openinference, a call among the parts": (
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.text": "Where is A-1?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.contents.0.message_content.type": "tool_use",
            "llm.output_messages.0.message.contents.0.message_content.tool_call.id": "c1",
            "llm.output_messages.0.message.contents.0.message_content.tool_call.function.name": "get_order",
            "llm.output_messages.0.message.contents.0.message_content.tool_call.function.arguments": '{"id": "A-1"}',
        },
        (),
    ),
    "openinference, a function call": (
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Where is A-1?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.function_call_name": "get_order",
            "llm.output_messages.0.message.function_call_arguments_json": '{"id": "A-1"}',
        },
        (),
    ),
    "ai_sdk": (
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": json.dumps(
                [{"role": "user", "content": [{"type": "text", "text": "Where is A-1?"}]}]
            ),
            "ai.response.toolCalls": json.dumps(
                [{"toolCallType": "function", "toolCallId": "c1", "toolName": "get_order", "args": '{"id": "A-1"}'}]
            ),
        },
        (),
    ),
    "google_adk": (
        {
            "gcp.vertex.agent.llm_request": json.dumps(
                {
                    "model": "model-x",
                    "config": {"tools": [{"function_declarations": [{"name": "get_order", "description": ""}]}]},
                    "contents": [{"role": "user", "parts": [{"text": "Where is A-1?"}]}],
                }
            ),
            "gcp.vertex.agent.llm_response": json.dumps(
                {"content": {"role": "model", "parts": [{"function_call": {"name": "get_order", "args": ARGUMENTS}}]}}
            ),
        },
        (),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_model_call_holds_its_messages(name):
    attributes, events = CASES[name]
    found = reading(attributes, *events)
    assert (found.convention, found.kind) == (name.partition(",")[0], "model")
    assert spoken(found) == EXPECTED
    assert found.unread == ()


TOOL_SPANS: dict[str, dict[str, Any]] = {
    "logfire": {
        "logfire.msg_template": "Function: {name}",
        "name": "get_order",
        "input": '{"id": "A-1"}',
        "output": "sent",
    },
    "otel_genai, Google's client": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "code.function.parameters.id.type": "str",
        "code.function.parameters.id.value": "A-1",
        "code.function.return.value": "sent",
    },
    "otel_genai, its input and output": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "input": '{"id": "A-1"}',
        "output": "sent",
    },
    "otel_genai": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "gen_ai.tool.call.result": "sent",
    },
    "otel_genai, Pydantic AI's older names": {
        "gen_ai.tool.name": "get_order",
        "tool_arguments": '{"id": "A-1"}',
        "tool_response": "sent",
    },
    "otel_genai, MCP": {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.arguments": '{"id": "A-1"}',
        "gen_ai.tool.call.result": "sent",
    },
    "openinference": {
        "openinference.span.kind": "TOOL",
        "tool.name": "get_order",
        "input.value": '{"id": "A-1"}',
        "input.mime_type": "application/json",
        "output.value": "sent",
    },
    "openllmetry": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "get_order",
        "traceloop.entity.input": '{"args": [], "kwargs": {"id": "A-1"}}',
        "traceloop.entity.output": '"sent"',
    },
    "ai_sdk": {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "get_order",
        "ai.toolCall.args": '{"id":"A-1"}',
        "ai.toolCall.result": '"sent"',
    },
    "google_adk": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gcp.vertex.agent.tool_call_args": '{"id":"A-1"}',
        "gcp.vertex.agent.tool_response": '"sent"',
    },
    "langsmith": {
        "langsmith.span.kind": "tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.prompt": '{"input": {"id": "A-1"}}',
        "gen_ai.completion": '{"output": "sent"}',
    },
}


@pytest.mark.parametrize("name", TOOL_SPANS)
def test_a_tool_call_holds_its_arguments_and_its_result(name):
    found = reading(TOOL_SPANS[name])
    assert (found.convention, found.kind, found.tool) == (name.partition(",")[0], "tool", "get_order")
    assert (found.given, found.made, found.unread) == (ARGUMENTS, "sent", ())


def test_every_convention_has_a_case():
    named = {name.partition(",")[0] for name in (*CASES, *TOOL_SPANS)}
    assert named == {each.name for each in CONVENTIONS}


@pytest.mark.parametrize(
    ("fields", "events", "said"),
    [
        ({"status": "error", "status_message": "gone"}, (), "gone"),
        ({"status": "error"}, (event("exception", **{"exception.message": "timed out"}),), "timed out"),
        ({"status": "error"}, (), "failed"),
        ({}, (), None),
        ({"status": "ok"}, (event("exception", **{"exception.message": "retried"}),), None),
    ],
)
def test_a_span_says_why_it_failed(fields, events, said):
    assert reading({"gen_ai.operation.name": "chat"}, *events, **fields).error == said


def test_what_no_convention_has_is_named():
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.new.thing": 1, "shop.tier": "gold", "http.route": "/"}
    assert reading(attributes).unread == ("gen_ai.new.thing", "shop.tier")
    assert reading({"http.route": "/"}) == SpanReading("none", "other")


def test_session_user_agent_and_cost_are_read():
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "support",
        "gen_ai.agent.version": "7",
        "gen_ai.conversation.id": "s-1",
        "user.id": "u-1",
        "operation.cost": 0.25,
    }
    found = reading(attributes)
    assert (found.kind, found.agent, found.agent_version) == ("agent", "support", "7")
    assert (found.session, found.user, found.cost) == ("s-1", "u-1", 0.25)
    by_resource = reading({"gen_ai.operation.name": "chat"}, resource={"service.name": "shop", "service.version": "3"})
    assert (by_resource.agent, by_resource.agent_version) == ("shop", "3")


CALLED = {f"llm.output_messages.0.message.tool_calls.0.tool_call.function.{key}": value
          for key, value in (("name", "get_order"), ("arguments", '{"id": "A-1"}'))}  # fmt: skip
THINKS: dict[str, tuple[dict[str, Any], tuple[SpanEvent, ...]]] = {
    "openinference, a part of the content": (
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Where is A-1?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
            "llm.output_messages.0.message.contents.0.message_content.text": "They want A-1.",
            **CALLED,
        },
        (),
    ),
    "vercel ai sdk": (
        {
            "operation.name": "ai.generateText.doGenerate",
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": json.dumps([USER]),
            "ai.response.reasoning": "They want A-1.",
            "ai.response.toolCalls": json.dumps([{"toolCallId": "c1", "toolName": "get_order", "input": ARGUMENTS}]),
        },
        (),
    ),
    "otel_genai, an event for each message": (
        {"gen_ai.operation.name": "chat"},
        (
            event("gen_ai.user.message", content="Where is A-1?"),
            event(
                "gen_ai.choice",
                **{
                    "event.body": json.dumps(
                        {"message": {"reasoning_content": "They want A-1.", "tool_calls": [OPENAI_CALL]}}
                    )
                },
            ),
        ),
    ),
    "otel_genai, a part of a message": (
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": "reasoning", "content": "They want A-1."},
                            {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": ARGUMENTS},
                        ],
                    }
                ]
            ),
        },
        (),
    ),
}


@pytest.mark.parametrize("case", THINKS)
def test_what_the_agent_thought_is_read_and_not_taken_for_what_it_said(case):
    attributes, events = THINKS[case]
    found = reading(attributes, *events)
    last = read_transcript([*found.given, *found.made]).transcript.messages[-1]
    assert (last.content, last.thought, [call.name for call in last.calls]) == (None, "They want A-1.", ["get_order"])
