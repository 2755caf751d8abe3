"""Reads OpenAI chat completions: `tool_calls`, the older `function_call`, roles `tool` and `function`.

Source: https://platform.openai.com/docs/api-reference/chat. The form that most others imitate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from toolevals.grading.reading.parsing.calls import calls_in
from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, REASONING, measures_in
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Opened, Placed, TranscriptFormat, has_role
from toolevals.grading.reading.parsing.json_calls import identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Call, Message

_BESIDE = frozenset({
    "role", "content", "name", "id", "index", "type", "finish_reason", "created_at", "timestamp", "model", "object",
    "cache_control", "provider_specific_fields", "is_error", *MEASURE_KEYS,
})  # fmt: skip
_REASONING = ("reasoning", "reasoning_content", "reasoning_details", "thinking", "tool_plan")
_OF_SPEAKERS = _BESIDE | {
    "tool_calls",
    "function_call",
    "refusal",
    "audio",
    "annotations",
    "parsed",
    "citations",
    *_REASONING,
}
_OF_RESULTS = _BESIDE | {"tool_call_id"}


def _sign(item: Item) -> str | None:
    key = next((key for key in ("tool_calls", "function_call", "tool_call_id") if item.get(key)), None)
    return f"a message has `{key}`" if key and "role" in item else None


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    """Read messages. `is_error` on a tool's message, which several frameworks add, is kept."""
    for pointer, item in items:
        if item["role"] in {"tool", "function"}:
            yield _result(item, pointer, account)
        else:
            account.rest(item, _OF_SPEAKERS, pointer)
            account.needs("content", item, _OF_SPEAKERS, pointer)
            _leave(item, pointer, account)
            refusal = item.get("refusal")
            text = said(item.get("content"), f"{pointer}/content", account)
            calls = _calls(item, pointer, account)
            words = refusal if text is None and isinstance(refusal, str) else text
            yield Turn(Message(account.role(item["role"], pointer), words, calls, measures=measures_in(item)))


def _calls(item: Item, pointer: str, account: Account) -> tuple[Call, ...]:
    """Return the calls of a message. The older `function_call` may repeat one of `tool_calls`: that is one call."""
    calls = calls_in(item.get("tool_calls"), f"{pointer}/tool_calls", account)
    older = calls_in(item.get("function_call") or None, f"{pointer}/function_call", account)
    return calls if calls and all(_repeats(call, calls) for call in older) else (*calls, *older)


def _repeats(older: Call, calls: Sequence[Call]) -> bool:
    return any(replace(call, id=older.id) == older for call in calls)


def _result(item: Item, pointer: str, account: Account) -> Turn:
    account.rest(item, _OF_RESULTS, pointer)
    name = item.get("name")
    message = Message(
        "tool",
        result_said(item.get("content"), f"{pointer}/content", account),
        call_id=identifier_in(item, "tool_call_id"),
        is_error=item.get("is_error") is True,
        measures=measures_in(item),
    )
    return Turn(message, name if isinstance(name, str) else None)


def _leave(item: Item, pointer: str, account: Account) -> None:
    for key in _REASONING:
        if item.get(key):
            account.lost(f"{pointer}/{key}", REASONING, item[key])
    if item.get("audio"):
        account.lost(f"{pointer}/audio", "audio")
    if item.get("annotations") or item.get("citations"):
        account.lost(f"{pointer}/{'annotations' if item.get('annotations') else 'citations'}", "citation")


def _opens(document: Item) -> Opened | None:
    choices = document.get("choices")
    if not isinstance(choices, list):
        return _whole_message(document)
    chosen = first_choice(choices)
    further = tuple((f"/choices/{place}", "further choice") for place in range(len(choices)) if place != chosen)
    first = choices[chosen] if choices else None
    message = first.get("message") if isinstance(first, dict) else None
    at = f"/choices/{chosen}/message"
    items = [(at, message)] if choices else []
    return Opened(items, at, "the document has `choices`", read=frozenset({"choices"}), further=further)


def first_choice(choices: Sequence[object]) -> int:
    """Return the place of the first choice by its `index`, wherever it stands; of those without one, by place."""
    indexes = [choice.get("index") if isinstance(choice, dict) else None for choice in choices]
    numbered = [(index if isinstance(index, int) else place, place) for place, index in enumerate(indexes)]
    return min(numbered, default=(0, 0))[1]


# Keys of a whole response that holds one message: Ollama's, and Cohere's of its second version.
_WHOLE = frozenset({
    "message", "done", "done_reason", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration",
    "logprobs", *MEASURE_KEYS,
})  # fmt: skip


# Keys of Cohere's first version, whose response is the message itself.
_COHERE_1 = frozenset({"text", "tool_calls"})
_COHERE_READ = _COHERE_1 | {"generation_id", "response_id", "chat_history", "finish_reason", "meta", "prompt"}


def _whole_message(document: Item) -> Opened | None:
    """Open the response of Ollama (`message` and `done`) or of Cohere (`message` and `finish_reason`)."""
    message, key = document.get("message"), next((key for key in ("done", "finish_reason") if key in document), None)
    if isinstance(document.get("generation_id"), str) and not _COHERE_1.isdisjoint(document) and message is None:
        said = {"role": "assistant", "content": document.get("text") or None}
        said |= {"tool_calls": calls} if (calls := document.get("tool_calls")) else {}
        return Opened([("", said)], "", "the document has `generation_id`, as Cohere's v1 does", read=_COHERE_READ)
    if key is None or not isinstance(message, dict) or not has_role(message):
        return None
    return Opened([("/message", message)], "/message", f"the document has `message` and `{key}`", read=_WHOLE)


OPENAI_CHAT = TranscriptFormat(
    name="openai_chat",
    label="OpenAI chat completions",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="`tool_calls` (or `function_call`) of a message",
    keys=_OF_SPEAKERS | {"tool_call_id", "choices", "message"},
    made_by="published schema",
    losses=("reasoning", "image", "audio", "file", "citation", "further choice", PROVIDER_RUN),
    opens=_opens,
)
