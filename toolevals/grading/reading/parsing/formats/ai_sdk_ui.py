"""Reads the Vercel AI SDK's messages of the user interface (`UIMessage`): parts hold a call and its result together.

Source: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message. Version 4 has parts `tool-invocation`, later ones
`tool-NAME` and `dynamic-tool`. `step-start` begins another message of the assistant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from toolevals.grading.reading.parsing.content import PART_LOSSES, result_said
from toolevals.grading.reading.parsing.extras import REASONING
from toolevals.grading.reading.parsing.formats.ai_sdk import ABOUT, called
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Placed,
    TranscriptFormat,
    has_role,
    kind_of,
)
from toolevals.grading.reading.parsing.json_calls import identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN, is_marked
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Message

_KEYS = ABOUT | {"role", "parts", "metadata", "content", "toolInvocations", "revisionId", "reasoning"}
_RESULT = frozenset({
    "state", "step", "output", "result", "errorText", "rawInput", "preliminary", "approval", "resultProviderMetadata",
})  # fmt: skip
_OTHERS = {"source": "citation", "data": "data of the interface", "redacted-reasoning": REASONING}


def _sign(item: Item) -> str | None:
    if "role" not in item:
        return None
    if isinstance(item.get("toolInvocations"), list):
        return "a message has `toolInvocations`"
    parts = item.get("parts")
    if not isinstance(parts, list) or not all(kind_of(part) for part in parts):
        return None
    for part in parts:
        kind = part["type"]
        if _is_tool(kind) or kind == "step-start" or (kind == "text" and "text" in part and "content" not in part):
            return f"a message has a part of type `{kind}`"
    return None


def _is_tool(kind: str) -> bool:
    return kind.startswith("tool-") or kind == "dynamic-tool"


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        role = account.role(item["role"], pointer)
        invoked, parts = item.get("toolInvocations"), item.get("parts")
        older = [{"type": "tool-invocation", "toolInvocation": each} for each in invoked] if invoked else []
        if not isinstance(parts, list):
            # Before parts came, a message had its text and its calls beside each other.
            account.unknown(f"{pointer}/parts", parts, "parts that are not a list")
            text = item.get("content")
            parts = [*([{"type": "text", "text": text}] if isinstance(text, str) and text else []), *older]
        else:
            _require_same(older, parts, f"{pointer}/toolInvocations", account)
        if item.get("reasoning"):
            account.lost(f"{pointer}/reasoning", REASONING, item["reasoning"])
        yield from _Steps(role, account).of(parts, f"{pointer}/parts")


def _require_same(older: list[Item], parts: list[Any], pointer: str, account: Account) -> None:
    """Refuse calls that are next to the parts and are not among them."""
    there = {repr(_identifier(part)) for part in parts}
    for place, part in enumerate(older):
        if repr(_identifier(part)) not in there:
            raise account.refusal(f"{pointer}/{place}")


def _identifier(part: object) -> Any:
    inner = part.get("toolInvocation", part) if isinstance(part, dict) else {}
    return inner.get("toolCallId") if isinstance(inner, dict) else None


class _Steps:
    """Reads the parts of one message. Results come after all calls of their step."""

    def __init__(self, role: str, account: Account) -> None:
        self._role = role
        self._account = account
        self._speech = Speech(role, account)
        self._results: list[Turn] = []
        self._called = False

    def of(self, parts: list[Any], pointer: str) -> Iterator[Turn]:
        """Yield the messages that parts make."""
        for place, part in enumerate(parts):
            kind, here = kind_of(part), f"{pointer}/{place}"
            if kind == "step-start":
                yield from self._step()
            elif kind == "tool-invocation" and isinstance(inner := part.get("toolInvocation"), dict):
                self._account.rest(part, ABOUT | {"toolInvocation"}, here)
                self._call(inner, inner.get("toolName"), f"{here}/toolInvocation")
            elif _is_tool(kind) and kind != "tool-invocation":
                self._call(part, part.get("toolName") if kind == "dynamic-tool" else kind[len("tool-") :], here)
            elif kind.startswith("data-") or kind in _OTHERS:
                self._account.lost(here, _OTHERS.get(kind, "data of the interface"))
            else:
                if self._called and PART_LOSSES.get(kind, REASONING) == REASONING:
                    yield from self._step()
                self._speech.say(part, here)
        yield from self._step(last=True)

    def _call(self, part: Item, name: object, pointer: str) -> None:
        if is_marked(part):
            self._account.provider_run(part, pointer, str(name))
            return
        self._speech.call(called(part, name, pointer, self._account, _RESULT))
        self._called = True
        state = part.get("state")
        failed = state in ("output-error", "output-denied")
        key = "errorText" if failed else "output" if "output" in part else "result"
        if failed or key in part:
            text = result_said(part.get(key), f"{pointer}/{key}", self._account)
            identifier = identifier_in(part, "toolCallId")
            self._results.append(Turn(Message("tool", text, call_id=identifier, is_error=failed), str(name)))

    def _step(self, *, last: bool = False) -> Iterator[Turn]:
        if self._results:
            yield from self._speech.answered(*self._results)
        elif self._called:
            yield from self._speech.answered()
        self._results, self._called = [], False
        if last:
            yield from self._speech.end()


AI_SDK_UI = TranscriptFormat(
    name="ai_sdk_ui",
    label="Vercel AI SDK, messages of the user interface",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="parts of type `tool-NAME`, `dynamic-tool` or `tool-invocation`",
    keys=frozenset({"role", "parts", "step-start", "tool-invocation", "dynamic-tool", "toolInvocation",
                    "toolInvocations", "toolCallId", "toolName", "state", "input", "output", "args", "errorText"}),
    made_by="library: ai 4.3, ai 5.0",
    losses=("reasoning", "file", "citation", "data of the interface", PROVIDER_RUN),
)  # fmt: skip
