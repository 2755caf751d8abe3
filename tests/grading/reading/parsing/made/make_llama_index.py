# mypy: ignore-errors
"""Write what LlamaIndex says of the conversation: its chat messages with blocks.

Needs `llama-index-core`. The messages are the library's own types, put together here.
"""

from __future__ import annotations

import json

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ThinkingBlock, ToolCallBlock

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


def _calls(turn):
    return [ToolCallBlock(tool_call_id=key, tool_name=name, tool_kwargs=args) for key, name, args in the.CALLS[turn]]


def _result(key, text):
    return ChatMessage(role="tool", content=text, additional_kwargs={"tool_call_id": key})


def _sent(order):
    return json.dumps(the.ORDERS[order], separators=(",", ":"))


def main() -> None:
    """Write the file."""
    thought = ThinkingBlock(content="Two things to look up.")
    messages = [
        ChatMessage(role="system", content=the.SYSTEM),
        ChatMessage(role="user", content=the.FIRST),
        ChatMessage(role="assistant", blocks=[thought, TextBlock(text=the.LOOKING), *_calls(0)]),
        _result("c1", _sent("A-1")),
        _result("c2", the.FAILURE),
        ChatMessage(role="assistant", content=the.ANSWERS[0]),
        ChatMessage(role="user", content=the.SECOND),
        ChatMessage(role="assistant", blocks=_calls(1)),
        _result("c3", _sent("A-2")),
        ChatMessage(role="assistant", content=the.ANSWERS[1]),
    ]
    save("llama_index", "llama-index-core", [message.model_dump(mode="json") for message in messages])


main()
