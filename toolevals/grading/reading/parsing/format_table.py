"""Lists the formats of messages in a table. To read another one is one file in `formats` and one row here.

Find which format a document of messages is in, and say why; or which known format is nearest to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from toolevals.grading.reading.parsing.formats.adk import ADK_EVENTS
from toolevals.grading.reading.parsing.formats.ai_sdk import AI_SDK
from toolevals.grading.reading.parsing.formats.ai_sdk_ui import AI_SDK_UI
from toolevals.grading.reading.parsing.formats.anthropic import ANTHROPIC
from toolevals.grading.reading.parsing.formats.bedrock import BEDROCK_CONVERSE
from toolevals.grading.reading.parsing.formats.gemini import GEMINI
from toolevals.grading.reading.parsing.formats.langchain import LANGCHAIN
from toolevals.grading.reading.parsing.formats.llama_index import LLAMA_INDEX
from toolevals.grading.reading.parsing.formats.mcp import MCP
from toolevals.grading.reading.parsing.formats.native import NATIVE
from toolevals.grading.reading.parsing.formats.openai_chat import OPENAI_CHAT
from toolevals.grading.reading.parsing.formats.openai_responses import OPENAI_RESPONSES
from toolevals.grading.reading.parsing.formats.otel_genai import OTEL_GENAI
from toolevals.grading.reading.parsing.formats.pydantic_ai import PYDANTIC_AI
from toolevals.grading.reading.parsing.formats.semantic_kernel import SEMANTIC_KERNEL
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Opened, TranscriptFormat, listed
from toolevals.grading.reading.parsing.json_calls import printable
from toolevals.grading.values.problems import InvalidDocument, pointer_to

# In the order in which a document is shown to them.
FORMATS: Mapping[str, TranscriptFormat] = {
    each.name: each
    for each in (
        NATIVE, MCP, PYDANTIC_AI, OTEL_GENAI, AI_SDK_UI, ADK_EVENTS, GEMINI, SEMANTIC_KERNEL, LLAMA_INDEX, LANGCHAIN,
        BEDROCK_CONVERSE, OPENAI_RESPONSES, AI_SDK, ANTHROPIC, OPENAI_CHAT,
    )
}  # fmt: skip
# Plain messages, a role and text, are alike in most formats; this one reads them where nothing tells them apart.
PLAIN = OPENAI_CHAT
MESSAGE_FORMATS: tuple[str, ...] = tuple(FORMATS)


_MOST_KEYS = 5_000
_SHOWN = 4
# How many formats have a key: what few have tells more.
_HOLDERS = Counter(key for each in FORMATS.values() for key in each.keys)
_SYSTEM = ("system", "system_prompt", "systemPrompt")


@dataclass(frozen=True, slots=True)
class Found:
    """A format, why it is that one, and the document's items. `strict`: nothing tells that it is of this format."""

    format: TranscriptFormat
    why: str
    opened: Opened
    strict: bool = False


def found_in(document: object, name: str | None = None) -> Found:
    """Return the format of a document: the named one, or the one that the document or its first telling item shows.

    Raises InvalidDocument where the document holds no list of objects, or the name is of none.
    """
    if name is not None and name not in FORMATS:
        raise InvalidDocument.at("", f"{name} is not a format of messages: {', '.join(FORMATS)}")
    shown, opened = _opened(document, name)
    for pointer, item in opened.items:
        if not isinstance(item, dict):
            raise InvalidDocument.at(pointer, "is not an object")
    if name is not None:
        return Found(FORMATS[name], "it is named", opened)
    if shown is not None:
        return Found(shown, opened.why, opened)
    for pointer, item in opened.items:
        for each in FORMATS.values():
            if (why := each.sign(item)) is not None:
                return Found(each, f"{why} (at {pointer or 'the top'})", opened)
    return Found(PLAIN, "plain messages, a role and text, are read like this", opened, strict=True)


def nearest_words(document: object) -> str:
    """Return which known format a document is nearest to and what is missing for it, as words to end an error with."""
    used = _words_of(document)
    shares = {each.name: sum(1 / _HOLDERS[key] for key in each.keys & used) for each in FORMATS.values()}
    best = max(FORMATS.values(), key=lambda each: shares[each.name])
    if not shares[best.name]:
        return f"Known formats: {', '.join(FORMATS)}"
    missing = [
        f"`{key}`" + (f" (here `{near[0]}`)" if near else "")
        for key in sorted(best.keys - used)
        if (near := get_close_matches(key, sorted(used - best.keys), 1, 0.7))
    ][:_SHOWN]
    lacks = f"; it has {', '.join(missing)}" if missing else f"; its calls are in {best.calls_at}"
    return f"Nearest known format: {best.name} ({best.label}){lacks}"


def _opened(document: object, name: str | None) -> tuple[TranscriptFormat | None, Opened]:
    """Return the format that the outside of a document tells, if any, and the items inside."""
    if isinstance(document, list):
        return None, Opened(listed(document, ""), "", "")
    if not isinstance(document, dict):
        raise InvalidDocument.at("", "is neither a message nor a list of messages")
    if "role" not in document:
        own = [FORMATS[name]] if name is not None else []
        for each in (*own, *FORMATS.values()):
            if (opened := each.opens(document)) is not None:
                return each, opened
        if isinstance(messages := document.get("messages"), list):
            return None, replace(_of_messages(document), items=listed(messages, "/messages"))
    return None, Opened([("", document)], "", "", read=frozenset(document))


def _of_messages(document: Item) -> Opened:
    key = next((key for key in _SYSTEM if document.get(key)), None)
    system = None if key is None else (pointer_to([key]), document[key])
    return Opened([], "/messages", "", system=system, read=frozenset({"messages", key or "messages"}))


def _words_of(document: object) -> frozenset[str]:
    """Return the keys of a document, and the short texts that say a type, as far as they tell formats apart."""
    words: set[str] = set()
    waiting = [document]
    while waiting and len(words) < _MOST_KEYS:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            for key, value in item.items():
                words.add(printable(key[:60]))
                if isinstance(value, str) and len(value) < 40 and key.lower().endswith(("type", "kind")):
                    words.add(printable(value))
            waiting.extend(item.values())
    return frozenset(words)
