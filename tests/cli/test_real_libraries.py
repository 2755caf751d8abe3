"""Files that other people's libraries write, graded as they come: their own types make them here.

Loading the libraries takes a second or two, and every test process collects this file: only who makes a file loads one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import types as mcp

from tests.cli.test_grade import row
from toolevals.cli.main import main
from toolevals.cli.output import Exit

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


def openai_messages(order: str) -> list[dict[str, Any]]:
    from openai.types.chat import ChatCompletion, ChatCompletionMessage, ChatCompletionMessageFunctionToolCall
    from openai.types.chat.chat_completion import Choice
    from openai.types.chat.chat_completion_message_function_tool_call import Function

    call = ChatCompletionMessageFunctionToolCall(
        id="call_1", type="function", function=Function(name="track", arguments=json.dumps({"order": order}))
    )
    message = ChatCompletionMessage(role="assistant", content=None, tool_calls=[call])
    choice = Choice(index=0, finish_reason="tool_calls", message=message)
    whole = ChatCompletion(id="c", choices=[choice], created=0, model="m", object="chat.completion")
    return [whole.choices[0].message.model_dump(mode="json")]


def anthropic_messages(order: str) -> list[dict[str, Any]]:
    from anthropic.types import Message, TextBlock, ToolUseBlock, Usage

    message = Message(
        id="msg_1",
        content=[
            TextBlock(type="text", text="I look it up."),
            ToolUseBlock(type="tool_use", id="toolu_1", name="track", input={"order": order}),
        ],
        model="m",
        role="assistant",
        stop_reason="tool_use",
        type="message",
        usage=Usage(input_tokens=1, output_tokens=1),
    )
    return [{"role": message.role, "content": [block.model_dump(mode="json") for block in message.content]}]


@pytest.mark.parametrize("messages", [openai_messages, anthropic_messages])
@pytest.mark.parametrize(("order", "status"), [("A-1", "passed"), ("A-2", "failed")])
def test_what_a_client_library_returns_is_graded(
    messages: Callable[[str], list[dict[str, Any]]],
    order: str,
    status: str,
    tmp_path: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row("one", messages=messages(order))))
    assert main(["grade", str(file)]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["verdicts"]["outcome"]["status"] == status


def test_tools_as_the_protocols_library_lists_them_are_offered(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = mcp.ListToolsResult(
        tools=[mcp.Tool.model_validate({"name": "track", "description": "Tracks.", "inputSchema": SCHEMA})]
    )
    tools = listed.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row("one", tools=tools, tool_calls=[{"name": "track", "arguments": {"order": 1}}])))
    assert main(["grade", str(file)]) == Exit.OK
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdicts["schema"]["status"], verdicts["outcome"]["status"]) == ("failed", "failed")
