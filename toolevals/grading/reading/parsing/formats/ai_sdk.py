"""Reads the Vercel AI SDK's messages for the model (`ModelMessage`, in version 4 `CoreMessage`), with parts by type.

Source: https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message. Version 4 has `args` and `result`, later ones
`input` and `output`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Placed,
    TranscriptFormat,
    has_role,
    kind_of,
)
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Call, Message

ABOUT = frozenset({
    "type", "id", "providerOptions", "providerMetadata", "experimental_providerMetadata", "callProviderMetadata",
    "providerExecuted", "dynamic", "title", "createdAt", "toolMetadata",
})  # fmt: skip
_KEYS = ABOUT | {"role", "content"}
_RESULT = ABOUT | {"toolCallId", "toolName", "output", "result", "isError", "experimental_content", "input", "args"}
_FAILED = ("error-text", "error-json", "execution-denied")
_APPROVALS = ("tool-approval-request", "tool-approval-response")
_OWN = ("tool-call", "tool-result", *_APPROVALS)


def _sign(item: Item) -> str | None:
    content = item.get("content")
    if "role" not in item or not isinstance(content, list):
        return None
    kind = next((kind for part in content if (kind := kind_of(part)) in _OWN), None)
    return f"a message has a part of type `{kind}`" if kind else None


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        content, role = item.get("content"), account.role(item["role"], pointer)
        if not isinstance(content, list):
            yield Turn(Message(role, said(content, f"{pointer}/content", account)))
            continue
        speech = Speech(role, account)
        for place, part in enumerate(content):
            kind, here = kind_of(part), f"{pointer}/content/{place}"
            if account.provider_run(part, here):
                continue
            if kind == "tool-call":
                speech.call(called(part, part.get("toolName"), here, account))
            elif kind == "tool-result":
                account.rest(part, _RESULT, here)
                yield from speech.answered(_result(part, here, account))
            elif kind in _APPROVALS:
                account.lost(here, "approval")
            else:
                speech.say(part, here)
        yield from speech.end()


def called(part: Item, name: object, pointer: str, account: Account, beside: frozenset[str] = frozenset()) -> Call:
    """Read the call of a part; `beside` are the keys that stand there for its result."""
    key = "args" if "args" in part else "input"
    known = ABOUT | beside | {"toolCallId", "toolName", key}
    account.rest_of_call(part, known, key in part, pointer)
    return call_of(name, part.get(key), identifier_in(part, "toolCallId"), shown_as=part)


def _result(part: Item, pointer: str, account: Account) -> Turn:
    if "output" not in part:
        text, failed = result_said(part.get("result"), f"{pointer}/result", account), part.get("isError") is True
    else:
        output, here = part["output"], f"{pointer}/output"
        kind = kind_of(output)
        if kind and ("value" in output or "reason" in output):
            account.rest(output, ABOUT | {"value", "reason"}, here)
            text = result_said(output.get("value", output.get("reason")), f"{here}/value", account)
        else:
            text = result_said(output, here, account)
        failed = kind in _FAILED
    name = part.get("toolName")
    message = Message("tool", text, call_id=identifier_in(part, "toolCallId"), is_error=failed)
    return Turn(message, name if isinstance(name, str) else None)


AI_SDK = TranscriptFormat(
    name="ai_sdk",
    label="Vercel AI SDK, messages for the model",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="parts of type `tool-call`",
    keys=frozenset({*_OWN, "role", "content", "toolCallId", "toolName", "input", "output", "args", "result"}),
    made_by="library: ai 4.3, ai 5.0",
    losses=("reasoning", "image", "file", "approval", PROVIDER_RUN),
)
