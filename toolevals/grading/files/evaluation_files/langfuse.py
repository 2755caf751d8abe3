"""Reads Langfuse's exports: items of a dataset, traces with their observations, and observations alone.

Source: the public API's `DatasetItem`, `TraceWithFullDetails` and `ObservationsView`, whose fields its exports have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolevals.grading.files.evaluation_files.content import content_of, example_of, expectation_of, json_in, said_in
from toolevals.grading.files.evaluation_files.entries import strata_in
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    counted,
    entries_read,
    items_at,
    keys,
    object_at,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, Row
from toolevals.grading.files.evaluation_files.spans import Span, SpanKind, traces_read, with_rows
from toolevals.grading.files.evaluation_files.tables import number_in
from toolevals.grading.reading.examples import tools_in_row
from toolevals.grading.reading.parsing.json_calls import looks_like_call
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

_ITEM = keys(
    "id input expectedOutput expected_output metadata status sourceTraceId source_trace_id sourceObservationId "
    "source_observation_id datasetId dataset_id datasetName dataset_name createdAt created_at updatedAt updated_at "
    "projectId validFrom validTo version mediaReferences media_references"
)
# Fields of observations and of traces, and columns of their tables.
_OBSERVATION = keys(
    "id traceId trace_id projectId project_id environment type parentObservationId parent_observation_id "
    "startTime start_time endTime end_time completionStartTime completion_start_time name metadata level "
    "statusMessage status_message version createdAt created_at updatedAt updated_at model modelId "
    "modelParameters model_parameters internalModelId internal_model_id providedModelName provided_model_name "
    "input output usage usageDetails usage_details costDetails cost_details unit latency timeToFirstToken "
    "time_to_first_token latencyPerToken promptId prompt_id promptName prompt_name promptVersion "
    "prompt_version inputPrice outputPrice totalPrice inputCost outputCost totalCost total_cost inputUsage "
    "outputUsage totalUsage calculatedInputCost calculatedOutputCost calculatedTotalCost inputTokens "
    "outputTokens totalTokens promptTokens completionTokens usagePricingTierName usagePricingTierId traceName "
    "trace_name traceTags traceTimestamp traceRelease traceEnvironment userId user_id sessionId session_id "
    "tags release timestamp bookmarked public observationCount observations trace htmlPath externalId "
    "isAppRoot toolCalls toolCallNames tool_calls tool_call_names toolDefinitions tool_definitions internalModel "
    "internal_model providedCostDetails provided_cost_details providedUsageDetails provided_usage_details"
)
_KEPT_THERE = keys("scores comments traceScores")
_VALUES = keys("value stringValue longStringValue dataType")
_NO_SCORE = keys("type input output")
_TRACE_ALONE = keys("sessionId session_id userId user_id release bookmarked tags")
_KINDS: Mapping[str, SpanKind] = {"GENERATION": "model", "TOOL": "tool"}
_TOKENS = (("promptTokens", "inputTokens"), ("completionTokens", "outputTokens"))
# Attributes that name the tool of a span, and what stands around it where its own name does.
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
_OF_TOOL = re.compile(r"^(?:execute_tool|running tool:?|tool[.:])\s*|\.tool$")
_EXPECTED = keys("expectedOutput expected_output")
_SOURCE = keys("datasetId datasetName dataset_id dataset_name sourceTraceId source_trace_id")


def detect_items(item: object) -> str | None:
    """Return why an item is one of a dataset; None where it is none."""
    if not isinstance(item, Mapping) or "input" not in item:
        return None
    expected, source = _EXPECTED & item.keys(), _SOURCE & item.keys()
    given = item["input"]
    if expected and item.keys() <= _ITEM and isinstance(given, Mapping) and isinstance(given.get("messages"), list):
        return "entries have input with messages, and expectedOutput"
    return "entries have input, expectedOutput and their dataset or source trace" if expected and source else None


def detect_traces(item: object) -> str | None:
    """Return why an item is a trace or an observation; None where it is neither."""
    if not isinstance(item, Mapping):
        return None
    if isinstance(item.get("observations"), list) and ("trace" in item or "id" in item):
        return "holds a trace with observations"
    if "type" in item and ({"traceId", "trace_id"} & item.keys()) and str(item["type"]).isupper():
        return "entries are observations: they have type and traceId"
    if {"id", "input", "output"} <= item.keys():
        if {"traceId", "startTime", "model"} <= item.keys():
            return "entries are generations: they have traceId, startTime and model"
        if "timestamp" in item and _TRACE_ALONE & item.keys():
            return "entries are traces without their observations"
    return None


def read_items(document: object) -> Iterator[Found]:
    """Yield the items of a dataset; those that are archived are refused by name, so that no one takes them for live."""
    yield from entries_read(items_at(_listed(document)), _item)


def read_traces(document: object) -> Iterator[Found]:
    """Yield a trial for each trace: from its observations, which may stand in it, next to it, or alone."""
    spans: list[Span] = []
    said: list[Row] = []
    wrong: list[Found] = []
    for pointer, item in items_at(_listed(document)):
        try:
            if _is_score(item):
                said.append(_score(item, pointer))
                continue
            spans += _spans(object_at(item), pointer)
            outer = item["trace"] if isinstance(item.get("trace"), Mapping) else item
            for place, each in enumerate(_scores(item) or _scores(outer)):
                said.append(_score(each, f"{pointer}/scores/{place}", str(outer.get("id") or "")))
        except InvalidDocument as error:
            wrong.append((pointer, error))
    yield from wrong
    yield from traces_read(with_rows(spans, said), "langfuse")


def _is_score(item: object) -> bool:
    """Tell whether an item is a score; one of text has no `value`."""
    return (
        isinstance(item, Mapping)
        and {"name", "source"} <= item.keys()
        and bool(_VALUES & item.keys())
        and not _NO_SCORE & item.keys()
    )


def _scores(item: JsonMapping) -> list[JsonMapping]:
    """Return the scores that a trace holds; a table has their values by name, without who gave them."""
    given = json_in(item.get("scores"))
    return [each for each in given if _is_score(each)] if isinstance(given, list) else []


def _score(item: JsonMapping, pointer: str, trace: str = "") -> Row:
    """Return a score; of its sources, annotation is a person's."""
    name, source = str(item.get("name") or "score"), str(item.get("source") or "")
    about = (*_about(item), trace)
    if source != "ANNOTATION":
        return Row(about, None, Problem(pointer, f"{name} is by a program ({source}), not a person: left out"))
    value, text = item.get("value"), item.get("longStringValue") or item.get("stringValue")
    author = item.get("authorUserId") or item.get("author_user_id")
    comment = item.get("comment")
    words = comment if isinstance(comment, str) else ""
    who = f"user {author}" if author else ""
    if item.get("dataType") == "CORRECTION":
        return Row(about, Answer(who, "correction", None, words, text or value, pointer))
    return Row(about, Answer(who, name, text if isinstance(text, str) and text else value, words, pointer=pointer))


def _about(item: JsonMapping) -> Iterator[str]:
    """Yield the ids of what a score is about, the nearest first; the third version of the API has a `subject`."""
    subject = json_in(item.get("subject"))
    if isinstance(subject, Mapping):
        yield from (str(subject[key]) for key in ("id", "traceId") if subject.get(key))
    for key in ("observationId", "observation_id", "traceId", "trace_id"):
        if item.get(key):
            yield str(item[key])
    # A session and a run hold several traces, and the file does not say which of them a person meant.
    for key, what in (("sessionId", "the session"), ("session_id", "the session"), ("datasetRunId", "the run")):
        if item.get(key):
            yield f"{what} {item[key]}"


def _listed(document: object) -> Any:
    """Return the list in a page of the API."""
    if isinstance(document, Mapping) and isinstance(document.get("data"), list) and "id" not in document:
        return document["data"]
    return document


def _item(item: JsonMapping) -> Entry:
    given = json_in(item.get("input"))
    key = "expectedOutput" if "expectedOutput" in item else "expected_output"
    metadata = json_in(item.get("metadata"))
    left: list[Problem] = []
    content = content_of(given, "/input", left)
    expectation, losses = expectation_of(json_in(item.get(key)), f"/{key}")
    offered = next(
        (each.get("tools") for each in (given, metadata) if isinstance(each, Mapping) and each.get("tools")), 0
    )
    tools, more = tools_in_row(offered or None, "/input/tools")
    losses = (*left, *losses, *more, *unknown_keys(item, _ITEM))
    if item.get("status") == "ARCHIVED":
        losses = (*losses, Problem("/status", "is ARCHIVED there: imported anyway"))
    strata = strata_in(metadata) if isinstance(metadata, Mapping) else {}
    row = example_of(
        item.get("id"), "langfuse", content, tools=tools, expectation=expectation, strata=strata, losses=losses
    )
    return Entry(row, losses=losses)


def _spans(item: JsonMapping, pointer: str) -> Iterator[Span]:
    observations = item.get("observations")
    if not isinstance(observations, list):
        yield _span(item, pointer)
        return
    outer = item["trace"] if isinstance(item.get("trace"), Mapping) else item
    trace = str(outer.get("id") or "")
    for place, each in enumerate(observations):
        where = f"{pointer}/observations/{place}"
        try:
            yield _span(object_at(each), where, trace)
        except InvalidDocument as error:
            raise error.below(f"/observations/{place}") from None
    yield Span(
        id=trace,
        trace=trace,
        parent="",
        kind="other",
        name=str(outer.get("name") or ""),
        given=json_in(outer.get("input")),
        made=json_in(outer.get("output")),
        start="",
        pointer=pointer,
        given_at="/input",
        made_at="/output",
        example=_example_of(outer),
    )


def _with_calls(item: JsonMapping) -> Any:
    """Return what a generation made; where that holds no calls, with those that Langfuse lists next to it."""
    made, _ = _asked(json_in(item.get("output")))
    listed = json_in(item.get("toolCalls", item.get("tool_calls")))
    names = json_in(item.get("toolCallNames", item.get("tool_call_names")))
    if not isinstance(listed, list) or not listed or any(each.calls for each in said_in(made, "/output")):
        return made
    calls = [_listed_call(json_in(each), names, place) for place, each in enumerate(listed)]
    text = made.get("content") if isinstance(made, Mapping) else made
    return [{"role": "assistant", "content": text if isinstance(text, str) else None, "tool_calls": calls}]


def _listed_call(call: object, names: object, place: int) -> JsonObject:
    fields = call if isinstance(call, Mapping) else {}
    function = fields.get("function")
    if isinstance(function, Mapping):
        return dict(fields)
    name = fields.get("name") or (names[place] if isinstance(names, list) and place < len(names) else None)
    return {
        "id": fields.get("id"),
        "type": "function",
        "function": {"name": name, "arguments": fields.get("arguments")},
    }


def _span(item: JsonMapping, pointer: str, trace: str = "") -> Span:
    name = item.get("id")
    if not isinstance(name, str) or not name:
        raise InvalidDocument.at("", "is an observation without id")
    kind = _kind(item)
    given, offered = _asked(json_in(item.get("input")))
    failed = item.get("level") == "ERROR"
    return Span(
        id=name,
        trace=str(item.get("traceId") or item.get("trace_id") or trace),
        parent=str(item.get("parentObservationId") or item.get("parent_observation_id") or trace),
        kind=kind,
        name=_tool_name(item) if kind == "tool" else str(item.get("name") or ""),
        given=given,
        made=_with_calls(item) if kind == "model" else json_in(item.get("output")),
        start=str(item.get("startTime") or item.get("start_time") or ""),
        pointer=pointer,
        given_at="/input",
        made_at="/output",
        error=str(item.get("statusMessage") or item.get("status_message") or "failed") if failed else None,
        tools=_offered(item, given) or offered,
        example=_example_of(item),
        usage=_usage(item),
        losses=(*_left(item), *unknown_keys(item, _OBSERVATION | _KEPT_THERE)),
    )


def _kind(item: JsonMapping) -> SpanKind:
    """Return the kind of an observation; a table of generations does not say it, and a trace alone is none."""
    if "type" in item:
        return _KINDS.get(str(item["type"]), "other")
    return "model" if "traceId" in item else "other"


def _left(item: JsonMapping) -> tuple[Problem, ...]:
    return tuple(
        Problem(f"/{key}", "is not a part of what was said and done: left out")
        for key in item
        if key in _KEPT_THERE and json_in(item[key]) and not (key == "scores" and _scores(item))
    )


def _example_of(item: JsonMapping) -> str:
    """Return the item of a dataset that a trace ran on, where its metadata names it."""
    metadata = json_in(item.get("metadata"))
    if not isinstance(metadata, Mapping):
        return ""
    name = metadata.get("dataset_item_id") or metadata.get("datasetItemId") or item.get("datasetItemId")
    return name if isinstance(name, str) else ""


def _offered(item: JsonMapping, given: object) -> Any:
    config = given.get("config") if isinstance(given, Mapping) else None
    # A response of OpenAI repeats the tools of its request.
    others = (json_in(item.get(key)) for key in ("modelParameters", "metadata", "output"))
    for holder in (given, config, *others):
        if isinstance(holder, Mapping) and (tools := json_in(holder.get("tools"))):
            return [json_in(each) for each in tools] if isinstance(tools, list) else tools
    listed = json_in(item.get("toolDefinitions", item.get("tool_definitions")))
    if not isinstance(listed, Mapping):
        return None
    tools = [(name, json_in(each)) for name, each in listed.items()]
    return [_defined(name, each) for name, each in tools if isinstance(each, Mapping)] or None


def _defined(name: str, tool: JsonMapping) -> JsonObject:
    """Return a tool that Langfuse lists by its name."""
    described = {"description": tool["description"]} if tool.get("description") else {}
    return {"name": name, **described, "parameters": json_in(tool.get("parameters")) or {"type": "object"}}


def _tool_name(item: JsonMapping) -> str:
    """Return the name of the tool that a span ran: by its attributes, or what its own name says before or after it."""
    metadata = json_in(item.get("metadata"))
    attributes = json_in(metadata.get("attributes")) if isinstance(metadata, Mapping) else None
    known = attributes if isinstance(attributes, Mapping) else {}
    named = next((known[key] for key in _TOOL_NAMES if known.get(key)), "")
    return str(named or _OF_TOOL.sub("", str(item.get("name") or "")))


def _asked(given: Any) -> tuple[Any, list[JsonMapping]]:
    """Return messages as the handlers for LangChain and Koog meant them, and the tools that stand among them.

    A handler writes LangChain's own calls under `additional_kwargs`, a tool on offer as a message of the role `tool`,
    and the name of a tool as the role of its result. Koog writes calls as the text of a message of the role `tool`.
    """
    if isinstance(given, Mapping):
        return _meant(given, {}), []
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        return given, []
    said: list[JsonMapping] = []
    tools: list[JsonMapping] = []
    called: dict[str, object] = {}
    for each in given:
        content = each.get("content")
        if each.get("role") == "tool" and isinstance(content, Mapping) and isinstance(content.get("function"), Mapping):
            tools.append(content)
            continue
        message = _meant(each, called)
        calls = message.get("tool_calls")
        called |= (
            {_name_of(call): call.get("id") for call in calls if _name_of(call)} if isinstance(calls, list) else {}
        )
        said.append(message)
    return said, tools


def _name_of(call: object) -> str:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def _meant(message: JsonMapping, called: Mapping[str, object]) -> JsonMapping:
    beside, content = message.get("additional_kwargs"), json_in(message.get("content"))
    if isinstance(beside, Mapping) and "role" in message:
        own = {key: beside[key] for key in ("tool_calls", "function_call") if beside.get(key) and not message.get(key)}
        message = {**{key: value for key, value in message.items() if key != "additional_kwargs"}, **own}
        if left := {key: value for key, value in beside.items() if value and key not in own}:
            message = {**message, "additional_kwargs": left}
    if message.get("role") in called:
        return {**message, "role": "tool", "name": message["role"], "tool_call_id": called[message["role"]]}
    is_call = isinstance(content, list) and content and all(looks_like_call(each) for each in content)
    if message.get("role") == "tool" and is_call and not message.get("tool_call_id"):
        return {"role": "assistant", "content": None, "tool_calls": content}
    return message


def _usage(item: JsonMapping) -> dict[str, float]:
    given = json_in(item.get("usageDetails") or item.get("usage_details") or item.get("usage"))
    if isinstance(given, Mapping):
        return counted(input_tokens=given.get("input"), output_tokens=given.get("output"))
    spent = (number_in(item.get(name) or item.get(other)) for name, other in _TOKENS)
    return counted(**dict(zip(("input_tokens", "output_tokens"), spent, strict=True)))
