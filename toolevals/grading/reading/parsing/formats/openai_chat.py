"""Reads OpenAI chat completions: `tool_calls`, the older `function_call`, roles `tool` and `function`.

Source: https://platform.openai.com/docs/api-reference/chat. The form that most others imitate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.calls import calls_in
from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Opened, Placed, TranscriptFormat, has_role
from toolevals.grading.reading.parsing.json_calls import identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.measures import MEASURE_KEYS, measures_in
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Message

_BESIDE = frozenset({
    "role", "content", "name", "id", "index", "type", "finish_reason", "created_at", "timestamp", "model", "object",
    "cache_control", "provider_specific_fields", "is_error", *MEASURE_KEYS,
})  # fmt: skip
_REASONING = ("reasoning", "reasoning_content", "reasoning_details", "thinking")
_OF_SPEAKERS = _BESIDE | {"tool_calls", "function_call", "refusal", "audio", "annotations", "parsed", *_REASONING}
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
            calls = (
                *calls_in(item.get("tool_calls"), f"{pointer}/tool_calls", account),
                *calls_in(item.get("function_call") or None, f"{pointer}/function_call", account),
            )
            words = refusal if text is None and isinstance(refusal, str) else text
            yield Turn(Message(account.role(item["role"], pointer), words, calls, measures=measures_in(item)))


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
            account.lost(f"{pointer}/{key}", "reasoning")
    if item.get("audio"):
        account.lost(f"{pointer}/audio", "audio")
    if item.get("annotations"):
        account.lost(f"{pointer}/annotations", "citation")


def _opens(document: Item) -> Opened | None:
    choices = document.get("choices")
    if not isinstance(choices, list):
        return None
    further = tuple((f"/choices/{place}", "further choice") for place in range(1, len(choices)))
    first = choices[0] if choices else None
    message = first.get("message") if isinstance(first, dict) else None
    items = [("/choices/0/message", message)] if choices else []
    return Opened(
        items, "/choices/0/message", "the document has `choices`", read=frozenset({"choices"}), further=further
    )


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
