"""Reads samples of Ragas (`EvaluationDataset.to_jsonl`, `to_list`): single-turn and multi-turn.

Source: ragas.dataset_schema (`SingleTurnSample`, `MultiTurnSample`) and ragas.messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolevals.grading.files.evaluation_files.content import (
    calls_in,
    content_of,
    example_of,
    expected_tools,
    transcript_of,
)
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    object_at,
    unknown_keys,
)
from toolevals.grading.reading.parsing.turns import Turn, messages_of
from toolevals.grading.values import Message
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

_SINGLE = keys(
    "user_input retrieved_contexts reference_contexts retrieved_context_ids reference_context_ids response "
    "multi_responses reference rubrics persona_name query_style query_length synthesizer_name"
)
_MULTI = keys("user_input reference reference_tool_calls rubrics reference_topics")
# Another key of a sample stands next to what the user said.
_BESIDE = ("response", "reference", "retrieved_contexts", "reference_contexts", "reference_tool_calls", "rubrics")
_ROLES: Mapping[str, str] = {"human": "user", "ai": "assistant", "tool": "tool"}


def detect(item: object) -> str | None:
    """Return why an item is a sample; None where it is none."""
    if not isinstance(item, Mapping) or "user_input" not in item:
        return None
    if isinstance(item["user_input"], list):
        return "entries have user_input as a list of messages"
    beside = next((key for key in _BESIDE if key in item), None)
    return None if beside is None else f"entries have user_input and {beside}"


def read(document: object) -> Iterator[Found]:
    """Yield an entry for each sample: up to the agent's first turn it is the example, behind it the trial."""
    yield from entries_read(items_at(document), _sample)


def _sample(item: JsonMapping) -> Entry:
    return _multi(item) if isinstance(item.get("user_input"), list) else _single(item)


def _single(item: JsonMapping) -> Entry:
    retrieved = item.get("retrieved_contexts")
    content = content_of(item.get("user_input"), "/user_input")
    content |= {"context": {"retrieved": retrieved}} if retrieved else {}
    expectation, losses = expected_tools(None, "args", item.get("reference"), "", "/reference")
    losses = (*losses, *_judged(item), *unknown_keys(item, _SINGLE))
    row = example_of(None, "ragas", content, expectation=expectation, losses=losses)
    said = item.get("response")
    made = [Message("assistant", said)] if isinstance(said, str) and said else []
    return Entry(row, Trial(row.external_id, transcript_of(made), content) if made else None, losses)


def _multi(item: JsonMapping) -> Entry:
    # The format has no ids: tools answer the calls before them in their order.
    turns = (Turn(_message(each, f"/user_input/{place}")) for place, each in enumerate(item["user_input"]))
    messages = messages_of(turns)
    start = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    if not start:
        raise InvalidDocument.at("/user_input", "does not start with the user")
    content = {"messages": [message.to_document() for message in messages[:start]]}
    expectation, losses = expected_tools(
        item.get("reference_tool_calls"), "args", item.get("reference"), "/reference_tool_calls", "/reference"
    )
    losses = (*losses, *_judged(item), *unknown_keys(item, _MULTI))
    row = example_of(None, "ragas", content, expectation=expectation, losses=losses)
    done = messages[start:]
    return Entry(row, Trial(row.external_id, transcript_of(done), content) if done else None, losses)


def _message(given: object, pointer: str) -> Message:
    item = object_at(given, pointer)
    role = _ROLES.get(str(item.get("type")))
    if role is None:
        raise InvalidDocument.at(f"{pointer}/type", "is not one of human, ai and tool")
    text = item.get("content")
    calls = item.get("tool_calls") if role == "assistant" else None
    made = calls_in(calls, "args", f"{pointer}/tool_calls", with_ids=False) if calls else ()
    return Message(role, text if isinstance(text, str) and (text or not made) else None, made)


def _judged(item: JsonMapping) -> tuple[Problem, ...]:
    return tuple(
        Problem(f"/{key}", "only a judge can check it: left out")
        for key in ("rubrics", "reference_topics", "reference_contexts")
        if item.get(key)
    )
