"""Reads OpenAI responses: a flat list of items, of which messages, function calls and their outputs are read.

Source: https://platform.openai.com/docs/api-reference/responses. Reasoning and the calls of tools that the provider
runs (web search, code interpreter, servers of MCP) are losses, and so are those of its own that the agent's program
runs (computer, shell). The items of the OpenAI Agents SDK (`RunResult.to_input_list()`) are of this form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.content import result_said, said
from toolevals.grading.reading.parsing.formats.transcript_format import (
    Item,
    Opened,
    Placed,
    TranscriptFormat,
    has_role,
    listed,
)
from toolevals.grading.reading.parsing.json_calls import call_of, free_text_call, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import AssistantDraft, Turn
from toolevals.grading.values import Call, Message

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_TEXT_BLOCKS = ("input_text", "output_text", "input_image", "input_file")
_BUILT_IN = "call of a built-in tool"
_ITEM_LOSSES = {
    "reasoning": "reasoning",
    "compaction": "summary of earlier messages",
    "mcp_list_tools": "list of tools",
    "mcp_approval_request": "approval",
    "mcp_approval_response": "approval",
    "item_reference": "reference to another item",
    **dict.fromkeys(
        (
            "computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call",
            "shell_call_output", "apply_patch_call", "apply_patch_call_output",
        ),
        _BUILT_IN,
    ),
}  # fmt: skip
_BESIDE = frozenset({"type", "id", "status", "created_by", "provider_data"})
_MESSAGE = _BESIDE | {"role", "content", "phase", "name"}
_CALL = _BESIDE | {"call_id", "name", "namespace", "caller"}
_OUTPUT = _BESIDE | {"call_id", "output", "is_error", "caller", "name"}


def _sign(item: Item) -> str | None:
    kind = item.get("type")
    if "role" not in item and (kind in _CALLS or kind in _OUTPUTS or kind == "reasoning"):
        return f"an item is of type `{kind}`"
    content = item.get("content")
    blocks = content if isinstance(content, list) else []
    kind = next((b["type"] for b in blocks if isinstance(b, dict) and b.get("type") in _TEXT_BLOCKS), None)
    return f"a message has a block of type `{kind}`" if kind else None


def _accepts(item: Item) -> bool:
    """Tell whether an item can be read or is known to be left aside."""
    return has_role(item) or isinstance(item.get("type"), str)


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    """Read items. What the assistant says and the calls that follow it are one message."""
    draft = AssistantDraft()
    for pointer, item in items:
        kind = item.get("type")
        if kind in _CALLS:
            draft.calls.append(_call(item, pointer, account))
        elif kind in _OUTPUTS:
            account.rest(item, _OUTPUT, pointer)
            yield from draft.end()
            failed = item.get("is_error") is True
            answer = result_said(item.get("output"), f"{pointer}/output", account)
            yield Turn(Message("tool", answer, call_id=identifier_in(item, "call_id", "id"), is_error=failed))
        elif isinstance(role := item.get("role"), str):
            account.rest(item, _MESSAGE, pointer)
            text = said(item.get("content"), f"{pointer}/content", account)
            if account.role(role, pointer) == "assistant":
                yield from draft.say(text)
            else:
                yield from draft.end()
                yield Turn(Message(role, text))
        elif isinstance(kind, str) and kind in _ITEM_LOSSES:
            named = f" ({kind})" if _ITEM_LOSSES[kind] == _BUILT_IN else ""
            account.lost(pointer, f"{_ITEM_LOSSES[kind]}{named}", item)
        else:
            account.unknown_part(pointer, item)
    yield from draft.end()


def _call(item: Item, pointer: str, account: Account) -> Call:
    identifier = identifier_in(item, "call_id", "id")
    call: Call
    if item["type"] == "custom_tool_call":
        account.rest_of_call(item, _CALL | {"input"}, "input" in item, pointer)
        call = free_text_call(item.get("name"), item.get("input"), identifier)
    else:
        account.rest_of_call(item, _CALL | {"arguments"}, "arguments" in item, pointer)
        call = call_of(item.get("name"), item.get("arguments"), identifier, shown_as=item)
    return call


def _opens(document: Item) -> Opened | None:
    for key in ("output", "input"):
        if isinstance(items := document.get(key), list):
            system = document.get("instructions")
            return Opened(
                listed(items, f"/{key}"),
                f"/{key}",
                f"the document has a list of items as `{key}`",
                system=("/instructions", system) if system else None,
                read=frozenset({key, "instructions"}),
            )
    return None


OPENAI_RESPONSES = TranscriptFormat(
    name="openai_responses",
    label="OpenAI responses, OpenAI Agents SDK",
    sign=_sign,
    accepts=_accepts,
    item="an item with a type or a role",
    turns=_turns,
    calls_at="items of type `function_call`",
    keys=frozenset({"arguments", "output", "input", "instructions", *_MESSAGE, *_CALL, *_CALLS, *_OUTPUTS}),
    made_by="library: openai-agents 0.24; published schema",
    losses=("reasoning", "image", "file", "citation", PROVIDER_RUN, _BUILT_IN, "list of tools", "approval"),
    opens=_opens,
)
