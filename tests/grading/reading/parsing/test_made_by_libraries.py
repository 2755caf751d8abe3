"""One conversation, written by each library, is one transcript."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.one_transcript import ANTHROPIC, MCP, NATIVE, OPENAI_CHAT, gemini
from toolevals.grading.reading.parsing import FORMATS, read_transcript
from toolevals.grading.values import MalformedCall, Message, ToolCall
from toolevals.grading.values.problems import InvalidDocument

FOLDER = Path(__file__).parent / "made"


def made(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def calls(turn: int) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name, arguments, key) for key, name, arguments in the.CALLS[turn])


CONVERSATION = (
    Message("system", the.SYSTEM),
    Message("user", the.FIRST),
    Message("assistant", the.LOOKING, calls(0)),
    Message("tool", '{"state":"sent"}', call_id="c1"),
    Message("tool", the.FAILURE, call_id="c2", is_error=True),
    Message("assistant", the.ANSWERS[0]),
    Message("user", the.SECOND),
    Message("assistant", None, calls(1)),
    Message("tool", '{"state":"lost"}', call_id="c3"),
    Message("assistant", the.ANSWERS[1]),
)
# The format of each file, what its library does not write, and what the agent thought.
THOUGHT = "Two things to look up."
FILES: dict[str, tuple[str, frozenset[str], str | None]] = {
    "adk_events": ("adk_events", frozenset({"system"}), THOUGHT),
    "adk_session": ("adk_events", frozenset({"system"}), THOUGHT),
    "ai_sdk_4_core_messages": ("ai_sdk", frozenset({"error"}), THOUGHT),
    "ai_sdk_4_ui_messages": ("ai_sdk_ui", frozenset({"error"}), THOUGHT),
    "ai_sdk_5_model_messages": ("ai_sdk", frozenset({"order"}), THOUGHT),
    "ai_sdk_5_ui_messages": ("ai_sdk_ui", frozenset(), THOUGHT),
    "bedrock_request": ("bedrock_converse", frozenset(), None),
    "langchain_dicts": ("langchain", frozenset(), THOUGHT),
    "langchain_dumpd": ("langchain", frozenset(), THOUGHT),
    "langgraph_state": ("langchain", frozenset(), THOUGHT),
    "llama_index": ("llama_index", frozenset({"error"}), THOUGHT),
    "openai_agents": ("openai_responses", frozenset({"error"}), THOUGHT),
    "otel_genai": ("otel_genai", frozenset({"error"}), THOUGHT),
    "pydantic_ai": ("pydantic_ai", frozenset(), THOUGHT),
    "pydantic_ai_instructions": ("pydantic_ai", frozenset(), THOUGHT),
    "semantic_kernel": ("semantic_kernel", frozenset({"error"}), None),
    "strands": ("bedrock_converse", frozenset({"system"}), THOUGHT),
}


OTHERS = {
    "openai_chat": OPENAI_CHAT,
    "anthropic": ANTHROPIC,
    "gemini": gemini("functionCall", "functionResponse"),
    "mcp": MCP,
    "native": NATIVE,
}


def expected(unwritten: frozenset[str]) -> list[Message]:
    messages = [message for message in CONVERSATION if not ("system" in unwritten and message.role == "system")]
    if "error" in unwritten:
        messages = [replace(message, is_error=False) for message in messages]
    if "order" in unwritten:
        place = messages.index(CONVERSATION[3])
        messages[place : place + 2] = reversed(messages[place : place + 2])
    return messages


@pytest.mark.parametrize("name", FILES)
def test_each_library_s_conversation_is_the_one_transcript(name):
    written = made(name)
    message_format, unwritten, thought = FILES[name]
    read = read_transcript(written["document"])
    assert read.format == message_format
    said = [replace(message, content=message.content or None, thought=None) for message in read.transcript.messages]
    assert said == expected(unwritten)
    assert [each.thought for each in read.transcript.messages if each.calls] == [thought, None]
    assert read.transcript.answer == the.ANSWERS[1]
    assert read.losses == ()
    assert read_transcript(written["document"], message_format) == read_transcript(written["document"], message_format)
    library, version = written["made_by"].rsplit(" ", 1)
    assert f"{library} {'.'.join(version.split('.')[:2])}" in FORMATS[message_format].made_by


def renamed(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield the document once for every key, with this key renamed, and once for every type, with the type renamed."""
    for path, holder in holders(document):
        for key in [key for key, value in holder.items() if value not in (None, "", [], {})]:
            copy = deepcopy(document)
            inner = at(copy, path)
            items = [(f"x_{name}" if name == key else name, value) for name, value in inner.items()]
            inner.clear()
            inner.update(items)
            yield f"{path}: {key} renamed", copy
            if isinstance(holder[key], str) and key in KINDS:
                copy = deepcopy(document)
                at(copy, path)[key] = f"x{holder[key]}"
                yield f"{path}: {key} is of another type", copy


KINDS = ("type", "kind", "part_kind", "block_type", "content_type", "role", "method")


def holders(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    if isinstance(document, dict):
        yield path, document
    if isinstance(document, dict | list):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from holders(value, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


@pytest.mark.parametrize("name", [*FILES, "openai_chat", "anthropic", "gemini", "mcp", "native"])
def test_a_renamed_key_or_type_never_turns_a_call_into_no_call(name):
    """What is not refused has every call, and every difference to the transcript is a loss or a malformed call."""
    document = OTHERS[name] if name in OTHERS else made(name)["document"]
    whole = read_transcript(document)
    for what, mutant in renamed(document):
        try:
            read = read_transcript(mutant)
        except InvalidDocument:
            continue
        assert len(read.transcript.calls) == len(whole.transcript.calls), what
        named = [loss for loss in read.losses if loss not in whole.losses]
        changed = [call for call in read.transcript.calls if call not in whole.transcript.calls]
        inside = any(key in what for key in ("'args'", "'arguments'", "'input'", "'tool_kwargs'"))
        assert inside or named or not changed or any(isinstance(c, MalformedCall) for c in changed), what
