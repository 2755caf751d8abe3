"""Messages of any provider, alone, in a list or in a whole response, as one Transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from toolevals.grading.documents import require_json
from toolevals.grading.parsing import anthropic, gemini, langchain, mcp, native, openai_chat, openai_responses
from toolevals.grading.parsing.measures import is_count, usage_in
from toolevals.grading.parsing.turns import Turn, messages_of
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.transcripts import with_few_calls

MessageFormat = Literal["native", "openai_chat", "openai_responses", "anthropic", "gemini", "mcp", "langchain"]
MESSAGE_FORMATS: tuple[MessageFormat, ...] = get_args(MessageFormat)

_Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Reader:
    """How one format is known and read."""

    recognises: Callable[[_Item], bool]
    accepts: Callable[[_Item], bool]
    turns: Callable[[Iterable[_Item]], Iterator[Turn]]
    item: str


# In the order in which an item is shown to them. Plain text messages are alike everywhere: the first two read them.
_READERS: dict[MessageFormat, _Reader] = {
    "native": _Reader(native.recognises, native.accepts, native.turns, "a message with a role"),
    "mcp": _Reader(mcp.recognises, mcp.accepts, mcp.turns, "a JSON-RPC message"),
    "gemini": _Reader(gemini.recognises, gemini.accepts, gemini.turns, "a content with parts"),
    "langchain": _Reader(langchain.recognises, langchain.accepts, langchain.turns, "a message with LangChain's type"),
    "openai_responses": _Reader(
        openai_responses.recognises, openai_responses.accepts, openai_responses.turns, "an item with a type or a role"
    ),
    "anthropic": _Reader(anthropic.recognises, anthropic.accepts, anthropic.turns, "a message with a role"),
    "openai_chat": _Reader(openai_chat.recognises, openai_chat.accepts, openai_chat.turns, "a message with a role"),
}


def transcript_in(document: Any, message_format: MessageFormat | None = None) -> Transcript:
    """Read a message, a list of messages, or a whole response or request of a provider as a transcript.

    Without a format it is found by the first item that can be of one format only; where there is none, OpenAI's chat
    messages are read. The last words of the assistant are the answer. Calls that cannot be read are MalformedCalls;
    what a format does not know is left aside. Raises InvalidDocument where the document is no list of objects, an item
    is not of the format, or a value could not have come from JSON (see `documents.require_json`).
    """
    require_json(document)
    found, items, prefix = _items(document)
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            raise InvalidDocument.at(prefix.format(place), "is not an object")
    name = message_format or found or _detected(items)
    if name not in _READERS:
        raise InvalidDocument.at("", f"{name} is not a format of messages: {', '.join(MESSAGE_FORMATS)}")
    reader = _READERS[name]
    for place, item in enumerate(items):
        if not reader.accepts(item):
            raise InvalidDocument.at(prefix.format(place), f"is not {reader.item}, which {name} has")
    messages = with_few_calls(messages_of(reader.turns(items)), prefix.removesuffix("/{}"))
    return _transcript(document, messages)


def last_words(messages: tuple[Message, ...]) -> str | None:
    """Return what the assistant said last, where it ended with words and not with a call."""
    last = messages[-1] if messages else None
    return last.content if last is not None and last.role == "assistant" and not last.calls else None


def _items(document: Any) -> tuple[MessageFormat | None, list[Any], str]:
    """Return the items of a document, its format where its outside tells, and a template of their pointers."""
    if isinstance(document, list):
        return None, document, "/{}"
    if not isinstance(document, dict):
        raise InvalidDocument.at("", "is neither a message nor a list of messages")
    for key, message_format in _WRAPPERS:
        if isinstance(inner := document.get(key), list) and "role" not in document:
            if key == "choices":
                return message_format, *_first_choice(inner)
            items = inner[:1] if key == "candidates" else inner
            return message_format, items, f"/{key}/{{}}"
    return None, [document], ""


_WRAPPERS: tuple[tuple[str, MessageFormat | None], ...] = (
    ("choices", "openai_chat"),
    ("candidates", "gemini"),
    ("contents", "gemini"),
    ("output", "openai_responses"),
    ("messages", None),
    ("input", "openai_responses"),
)


def _first_choice(choices: list[Any]) -> tuple[list[Any], str]:
    if not choices:
        return [], ""
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    return [message], "/choices/0/message"


def _detected(items: list[_Item]) -> MessageFormat:
    for item in items:
        for name, reader in _READERS.items():
            if reader.recognises(item):
                return name
    return "openai_chat"


def _transcript(document: Any, messages: tuple[Message, ...]) -> Transcript:
    if not isinstance(document, dict):
        return Transcript(messages, last_words(messages))
    answer, latency, error = document.get("answer"), document.get("latency_ms"), document.get("error")
    return Transcript(
        messages=messages,
        answer=answer if isinstance(answer, str) else last_words(messages),
        usage=usage_in(document),
        latency_ms=latency if is_count(latency) else None,
        error=error if isinstance(error, str) and error and "jsonrpc" not in document else None,
    )
