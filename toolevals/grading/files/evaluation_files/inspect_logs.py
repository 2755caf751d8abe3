"""Reads logs of Inspect (`inspect_ai.log.EvalLog`): a `.json` file, or the `.eval` zip of header and samples.

Source: inspect_ai.log (`EvalLog`, `EvalSample`) and inspect_ai.model (`ChatMessage`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import (
    content_of,
    example_of,
    expectation_of,
    expected_answer,
    json_in,
)
from toolevals.grading.files.evaluation_files.entries import strata_in
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    Trial,
    entries_read,
    items_at,
    keys,
    milliseconds,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.reading.parsing.content import result_text, text_in
from toolevals.grading.reading.parsing.extras import REASONING, thought_in, usage_in
from toolevals.grading.reading.parsing.json_calls import call_of, identifier_in
from toolevals.grading.values import Call, Expectation, MalformedCall, Message, Transcript
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

_SAMPLE = keys(
    "id epoch input choices target sandbox files setup messages output scores metadata store events model_usage "
    "role_usage started_at completed_at total_time working_time uuid invalidation error error_retries attachments "
    "limit turn_count timelines events_data"
)
_LIMITS: Mapping[str, str] = {"message": "steps", "token": "steps", "turn": "steps", "time": "steps"}
_ATTACHED = "attachment://"
_WITHOUT_TEXT = frozenset({"text", "reasoning"})


def detect(document: JsonValue) -> str | None:
    """Return why a document is a log; None where it is none."""
    run = document.get("eval") if isinstance(document, Mapping) else None
    if isinstance(run, Mapping) and "task" in run and "model" in run and "samples" in document:
        return f"has eval with task and model, and samples (log version {document.get('version')})"
    return None


def read(document: JsonValue) -> Iterator[Found]:
    """Yield an entry for each sample of each epoch: an epoch is a trial."""
    model = str(object_at(document["eval"], "/eval").get("model") or "")
    yield from entries_read(items_at(document, "samples"), lambda item: _sample(item, model))


def _sample(item: JsonMapping, model: str) -> Entry:
    attached = object_in(item, "attachments")
    given, losses = _given(item.get("input"), attached)
    content = content_of(given, "/input")
    tools, more = tools_in_row(_offered(item), "/events")
    metadata = object_in(item, "metadata")
    expectation, words = _target(item.get("target"))
    messages, others = _messages(item.get("messages"), attached)
    losses = (*losses, *more, *words, *others, *unknown_keys(item, _SAMPLE))
    row = example_of(
        item.get("id"), "inspect", content, tools=tools, expectation=expectation, strata=strata_in(metadata),
        losses=losses,
    )  # fmt: skip
    epoch = item.get("epoch")
    trial = Trial(
        row.external_id,
        _transcript(item, messages, content["messages"]),
        content,
        epoch - 1 if isinstance(epoch, int) and epoch > 0 else None,
        model,
    )
    return Entry(row, trial, losses)


def _given(value: object, attached: JsonMapping) -> tuple[Any, tuple[Problem, ...]]:
    if isinstance(value, list):
        messages, losses = _messages(value, attached, "/input")
        return [message.to_document() for message in messages], losses
    return _whole(value, attached), ()


def _transcript(item: JsonMapping, messages: tuple[Message, ...], given: list[JsonObject]) -> Transcript:
    """Return what came after the input: solvers may put a system message before it, which is no doing of the agent."""
    start = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    done = messages[start:]
    error = item.get("error")
    failed = error.get("message") if isinstance(error, Mapping) else None
    limit = item.get("limit")
    kind = limit.get("type") if isinstance(limit, Mapping) else None
    output = item.get("output")
    said = output.get("completion") if isinstance(output, Mapping) else None
    answer = done[-1].content if done and not done[-1].calls and done[-1].role == "assistant" else None
    seconds = item.get("total_time")
    return Transcript(
        messages=done,
        answer=said if isinstance(said, str) and said else answer,
        usage=_usage(item.get("model_usage")),
        latency_ms=milliseconds(seconds),
        error=failed if isinstance(failed, str) and failed else None,
        ended=_LIMITS.get(str(kind), "broken") if kind else None,
    )


def _usage(given: object) -> dict[str, float]:
    """Return the tokens of all models together."""
    found: dict[str, float] = {}
    for each in given.values() if isinstance(given, Mapping) else ():
        for name, count in usage_in({"usage": each}).items():
            found[name] = found.get(name, 0) + count
    return found


def _messages(
    given: object, attached: JsonMapping, pointer: str = "/messages"
) -> tuple[tuple[Message, ...], tuple[Problem, ...]]:
    messages, losses = [], []
    for place, item in enumerate(given if isinstance(given, list) else ()):
        where = f"{pointer}/{place}"
        message = object_at(item, where)
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            raise InvalidDocument.at(f"{where}/role", "is not one of system, user, assistant and tool")
        content = message.get("content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, Mapping) and part.get("type") not in _WITHOUT_TEXT:
                losses.append(Problem(f"{where}/content/{number}", f"a part of type {part.get('type')} is left out"))
        text = _whole(text_in(content), attached)
        if role == "tool":
            error = message.get("error")
            said = error.get("message") if isinstance(error, Mapping) and not text else text
            messages.append(
                Message("tool", result_text(said), call_id=identifier_in(dict(message), "tool_call_id"),
                        is_error=error is not None)
            )  # fmt: skip
        else:
            calls = message.get("tool_calls") if role == "assistant" else None
            made = tuple(_call(call) for call in calls) if isinstance(calls, list) else ()
            parts = content if isinstance(content, list) and role == "assistant" else []
            thought = thought_in(
                [part for part in parts if isinstance(part, Mapping) and part.get("type") == REASONING]
            )
            messages.append(Message(str(role), text or None, made, thought=thought))
    return tuple(messages), tuple(losses)


def _call(item: object) -> Call:
    if not isinstance(item, Mapping):
        return call_of(None, None, None, shown_as=item)
    name, identifier = item.get("function"), item.get("id")
    identifier = identifier if isinstance(identifier, str) else None
    if isinstance(wrong := item.get("parse_error"), str) and wrong:
        return MalformedCall(wrong, name=name if isinstance(name, str) else None, id=identifier)
    return call_of(name, item.get("arguments"), identifier, shown_as=dict(item))


def _offered(item: JsonMapping) -> Any:
    """Return the tools that the first model call was given."""
    events = item.get("events")
    for event in events if isinstance(events, list) else ():
        if isinstance(event, Mapping) and event.get("event") == "model" and event.get("tools"):
            return [
                {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
                for tool in event["tools"]
                if isinstance(tool, Mapping)
            ]
    return None


def _target(target: object) -> tuple[Expectation | None, tuple[Problem, ...]]:
    if isinstance(target, list) and all(isinstance(each, str) for each in target) and len(target) > 1:
        return expected_answer([each for each in target if each]), ()
    one = target[0] if isinstance(target, list) and target else target
    return expectation_of(json_in(one) if one != [] else None, "/target")


def _whole(text: object, attached: JsonMapping) -> Any:
    """Return text, or what it refers to among the sample's attachments."""
    if isinstance(text, str) and text.startswith(_ATTACHED):
        found = attached.get(text.removeprefix(_ATTACHED))
        return found if isinstance(found, str) else text
    return text
