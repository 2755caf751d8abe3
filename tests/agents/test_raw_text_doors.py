"""A call in each model's own form, through each door that text comes in by: none is silently prose."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from labeling.imports.formats import SOURCES
from labeling.imports.parts import Settings
from tests.agents.chat_server import chat_server, says
from tests.agents.messages_server import messages_server
from tests.traces.sending import export, span
from toolevals.agents.anthropic_chat import AnthropicChat
from toolevals.agents.network import AddressPolicy
from toolevals.agents.openai_chat import OpenAIChat
from toolevals.agents.options import AnthropicOptions, ChatOptions
from toolevals.agents.webhook import transcript_of
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.reading.parsing.text import TEXT_FORMATS
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, ToolSpec
from toolevals.runs.files.evaluation_files import PredictionReader

LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])
# A text that looks like a number has the right type only where the reader was handed the tool.
SEEK = ToolSpec(
    "seek",
    "Look.",
    {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
)
MEANT = ("seek", {"city": "12", "days": 2})
GIVEN = '{"city": "12", "days": 2}'
ASKED = {"role": "user", "content": "Look at 12."}
OPENAI = {"type": "function", "function": {"name": "seek", "description": "Look.", "parameters": SEEK.input_schema}}
XML = '<invoke name="seek"><parameter name="city">12</parameter><parameter name="days">2</parameter></invoke>'
CODER = "<function=seek>\n<parameter=city>\n12\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>"
KEYS = "<arg_key>city</arg_key><arg_value>12</arg_value><arg_key>days</arg_key><arg_value>2</arg_value>"
JSON_CALL = f'{{"name": "seek", "arguments": {GIVEN}}}'
DIALECTS = {
    "hermes": f"<tool_call>\n{JSON_CALL}\n</tool_call>",
    "deepseek_v3": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>seek\n```json\n{GIVEN}\n```"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek_v3_1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>seek<｜tool▁sep｜>{GIVEN}<｜tool▁call▁end｜>",
    "deepseek_v3_2": f"<｜DSML｜function_calls>{XML.replace('<', '<｜DSML｜').replace('<｜DSML｜/', '</｜DSML｜')}",
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.seek:0<|tool_call_argument_begin|>"
    f"{GIVEN}<|tool_call_end|><|tool_calls_section_end|>",
    "harmony": f"<|channel|>commentary to=functions.seek <|constrain|>json<|message|>{GIVEN}<|call|>",
    "mistral": f"[TOOL_CALLS]seek[ARGS]{GIVEN}",
    "command_r": f'Action: ```json\n[{{"tool_name": "seek", "parameters": {GIVEN}}}]\n```',
    "command_a": f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "seek", "parameters": {GIVEN}}}]<|END_ACTION|>',
    "functiongemma": "<start_function_call>call:seek{city:<escape>12<escape>,days:2}<end_function_call>",
    "react": f"Thought: look\nAction: seek\nAction Input: {GIVEN}",
    "smolagents": 'Thought: look\n<code>\nprint(seek(city="12", days=2))\n</code>',
    "qwen3_coder": f"<tool_call>\n{CODER}\n</tool_call>",
    "glm": f"<tool_call>seek{KEYS}</tool_call>",
    "minimax_m1": f"<tool_calls>\n{JSON_CALL}\n</tool_calls>",
    "minimax_m2": f"<minimax:tool_call>\n{XML}\n</minimax:tool_call>",
    "claude_xml": f"<function_calls>\n{XML}\n</function_calls>",
    "step_3": "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
    f"{XML.replace('<', '<steptml:').replace('<steptml:/', '</steptml:')}<｜tool_call_end｜>",
}

# Marks that others write, too, need a tool's name behind them.
MARKED = [each for each in TEXT_FORMATS.values() if each.name not in {"code", "react"}]


def said(calls: tuple[Call, ...]) -> list[tuple[str | None, Any]]:
    return [(call.name, call.arguments if isinstance(call, ToolCall) else call.reason) for call in calls]


def uploaded(row: dict[str, Any]) -> tuple[Call, ...]:
    reader = PredictionReader({"a": 0}, 1, lambda _: [SEEK])
    ((_, _, document),) = reader.rows(io.BytesIO(json.dumps({"id": "a", **row}).encode()))
    assert document is not None
    return read_prediction({"id": "a", "messages": document["messages"], "format": "native"}).transcript.calls


def imported(text: str) -> tuple[Call, ...]:
    row = {"messages": [ASKED, {"role": "assistant", "content": text}], "tools": [OPENAI]}
    (found,) = SOURCES["openai_chat"].rows(row, Settings())
    return expected_in(found.expectation)


def imported_conversation(text: str) -> tuple[Call, ...]:
    turns = [{"from": "human", "value": "Look at 12."}, {"from": "gpt", "value": text}]
    row = {"conversations": turns, "tools": json.dumps([OPENAI])}
    ((_, found),) = evaluation_file(json.dumps([row]).encode(), "sharegpt").entries()
    assert not isinstance(found, Exception)
    return expected_in(found.example.expectation if found.example else None)


def expected_in(expectation: Any) -> tuple[Call, ...]:
    assert expectation is not None
    assert expectation.kind == "calls", "a call became no_call"
    (alternative,) = expectation.alternatives
    return tuple(
        ToolCall(call.tool, {name: matcher.value for name, matcher in call.arguments.items()})
        for call in alternative.calls
    )


def traced(text: str) -> tuple[Call, ...]:
    told = [{"role": "user", "parts": [{"type": "text", "content": "Look at 12."}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}]
    tool = {"type": "function", "name": "seek", "parameters": SEEK.input_schema}
    attributes = {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.tool.definitions": [tool],
        "gen_ai.input.messages": told, "gen_ai.output.messages": answer,
    }  # fmt: skip
    ((_, trial, _),) = evaluation_file(json.dumps(export(span(1, "chat m", attributes=attributes))).encode()).trials("")
    assert not isinstance(trial, Exception)
    return trial.transcript.calls


def asked(text: str, **options: Any) -> tuple[Call, ...]:
    with (
        chat_server(lambda _: says(text)) as server,
        OpenAIChat(ChatOptions(server.url, "small", **options), policy=LOOPBACK) as chat,
    ):
        return chat.reply([Message("user", "Look at 12.")], [SEEK]).message.calls


def asked_of_messages(text: str) -> tuple[Call, ...]:
    with (
        messages_server(lambda _: [{"type": "text", "text": text}]) as server,
        AnthropicChat(AnthropicOptions("small", server.url), policy=LOOPBACK) as chat,
    ):
        return chat.reply([Message("user", "Look at 12.")], [SEEK]).message.calls


DOORS: dict[str, Callable[[str], tuple[Call, ...]]] = {
    "text": lambda text: read_prediction({"id": "a", "text": text}, tools=[SEEK]).transcript.calls,
    "content": lambda text: (
        read_prediction(
            {"id": "a", "messages": [{"role": "assistant", "content": text}]}, tools=[SEEK]
        ).transcript.calls
    ),
    "uploaded text": lambda text: uploaded({"text": text}),
    "uploaded content": lambda text: uploaded({"messages": [{"role": "assistant", "content": text}]}),
    "import": imported,
    "import of conversations": imported_conversation,
    "webhook, text": lambda text: transcript_of({"text": text}, [SEEK])[0].calls,
    "webhook, message": lambda text: transcript_of({"role": "assistant", "content": text}, [SEEK])[0].calls,
    "trace": traced,
    "live, tools as text": lambda text: asked(text, tools="text"),
    "live, native tools": asked,
    "live, messages": asked_of_messages,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_call_in_a_models_own_form_is_that_call_by_every_door(dialect, door):
    assert said(DOORS[door](DIALECTS[dialect])) == [MEANT]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("each", MARKED, ids=lambda each: each.name)
def test_a_form_of_a_tool_that_was_not_offered_is_a_call_by_every_door(each, door):
    (call, *_) = DOORS[door](each.example)
    assert call.name == "f"
    assert not isinstance(call, MalformedCall)


@pytest.mark.parametrize("door", DOORS)
def test_a_draft_in_a_thought_is_no_call_by_any_door(door):
    text = f"<think>{DIALECTS['hermes']}</think>Hello."
    if door.startswith("import"):
        with pytest.raises(AssertionError, match="no_call"):
            DOORS[door](text)
    else:
        assert DOORS[door](text) == ()


def test_the_conversation_goes_back_without_saying_a_call_twice():
    text = DIALECTS["hermes"]
    with (
        chat_server(lambda _: says(text)) as server,
        OpenAIChat(ChatOptions(server.url, "small"), policy=LOOPBACK) as chat,
    ):
        first = chat.reply([Message("user", "Look.")], [SEEK]).message
        assert (first.content, first.from_text, first.calls[0].id) == (text, True, "call_1_0")
        chat.reply([Message("user", "Look."), first, Message("tool", "Rain.", call_id="call_1_0")], [SEEK])
    _, again, result = server.requests[1]["messages"]
    assert (again["content"], again["tool_calls"][0]["id"], result["tool_call_id"]) == (None, "call_1_0", "call_1_0")
