"""Reads Amazon Bedrock Converse, and Strands Agents, whose messages are the same: blocks known by their one key.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolevals.grading.reading.parsing.content import said
from toolevals.grading.reading.parsing.extras import measures_in
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Opened, Placed, TranscriptFormat, has_role
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Message
from toolevals.grading.values.canonical import exact

_KEYS = frozenset({"role", "content", "metadata", "tracking_id"})
_CALL = frozenset({"toolUseId", "name", "input", "type", "reasoningSignature"})
_RESULT = frozenset({"toolUseId", "content", "status", "type"})
_LOSSES: Mapping[str, str] = {
    "reasoningContent": "reasoning", "image": "image", "document": "file", "video": "video", "audio": "audio",
    "cachePoint": "cache point", "searchResult": "search result",
}  # fmt: skip
_OWN = ("toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent", "citationsContent")


def _sign(item: Item) -> str | None:
    content = item.get("content")
    if "role" not in item or not isinstance(content, list):
        return None
    for block in content:
        if isinstance(block, dict) and "type" not in block:
            if own := next((key for key in _OWN if key in block), None):
                return f"a message has a block with `{own}`"
            if block.keys() == {"text"}:
                return "a message has a block of `text` without a type"
    return None


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, _KEYS, pointer)
        content, role = item.get("content"), account.role(item["role"], pointer)
        if not isinstance(content, list):
            yield Turn(Message(role, said(content, f"{pointer}/content", account)))
            continue
        made = list(_blocks(role, content, f"{pointer}/content", account))
        measures = _measures(item) if len(made) == 1 and role == "assistant" else None
        for turn in made:
            yield turn if measures is None else Turn(replace(turn.message, measures=measures))


def _measures(item: Item) -> Any:
    told = item.get("metadata")
    if not isinstance(told, dict):
        return None
    metrics = told.get("metrics")
    latency = metrics.get("latencyMs") if isinstance(metrics, dict) else None
    return measures_in({"usage": told.get("usage"), "latency_ms": latency})


def _blocks(role: str, content: list[Any], pointer: str, account: Account) -> Iterator[Turn]:
    speech = Speech(role, account)
    for place, block in enumerate(content):
        here = f"{pointer}/{place}"
        given = block if isinstance(block, dict) else {}
        if any(account.provider_run(given.get(key), here) for key in ("toolUse", "toolResult")):
            continue
        if isinstance(call := given.get("toolUse"), dict):
            account.rest(given, frozenset({"toolUse"}), here)
            account.rest_of_call(call, _CALL, "input" in call, f"{here}/toolUse")
            speech.call(call_of(call.get("name"), call.get("input"), identifier_in(call, "toolUseId"), shown_as=block))
        elif isinstance(result := given.get("toolResult"), dict):
            account.rest(given, frozenset({"toolResult"}), here)
            account.rest(result, _RESULT, f"{here}/toolResult")
            yield from speech.answered(_result(result, f"{here}/toolResult/content", account))
        elif isinstance(cited := given.get("citationsContent"), dict):
            account.lost(here, "citation")
            if (text := said(cited.get("content"), f"{here}/citationsContent/content", account)) is not None:
                speech.text(text)
        elif isinstance(guarded := given.get("guardContent"), dict):
            speech.say(guarded.get("text"), f"{here}/guardContent/text")
        elif key := next((key for key in _LOSSES if given.get(key)), None):
            account.rest(given, frozenset({key}), here)
            account.lost(here, _LOSSES[key], given[key])
        else:
            speech.say(block, here)
    yield from speech.end()


def _result(result: Item, pointer: str, account: Account) -> Turn:
    texts = []
    content = result.get("content")
    for place, block in enumerate(content if isinstance(content, list) else [content]):
        given = block if isinstance(block, dict) else {}
        if "json" in given:
            texts.append(given["json"] if isinstance(given["json"], str) else exact(given["json"]))
        elif isinstance(given.get("text"), str):
            texts.append(given["text"])
        elif isinstance(block, str):
            texts.append(block)
        elif block is not None:
            kind = next((what for key, what in _LOSSES.items() if key in given), "part of a result")
            account.lost(f"{pointer}/{place}", kind)
    identifier = identifier_in(result, "toolUseId")
    return Turn(Message("tool", "\n".join(texts), call_id=identifier, is_error=result.get("status") == "error"))


def _opens(document: Item) -> Opened | None:
    output = document.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    if not isinstance(message, dict):
        return None
    return Opened(
        [("/output/message", message)],
        "/output/message",
        "the document has `output.message`",
        read=frozenset({"output"}),
    )


BEDROCK_CONVERSE = TranscriptFormat(
    name="bedrock_converse",
    label="Bedrock Converse, Strands Agents",
    sign=_sign,
    accepts=has_role,
    item="a message with a role",
    turns=_turns,
    calls_at="`toolUse` of a block",
    keys=frozenset({*_OWN, *_CALL, *_RESULT, *_KEYS, "json", "text"}),
    made_by="library: strands-agents 1.62, boto3 1.44",
    losses=("reasoning", "image", "audio", "video", "file", "citation", "search result", "cache point", PROVIDER_RUN),
    opens=_opens,
)
