"""Reads LangSmith's exports: runs of a project, and examples with the runs of an experiment.

Source: langsmith.schemas (`Run`, `Example`), as the SDK dumps them and as the page exports them.

Reads LangSmith's datasets: `{"inputs": {...}, "outputs": {...}, "metadata": {...}}`, one's own keys in each.

Keys that people use for conversations and for tool calls are known here; see docs/importing.md for the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolevals.grading.files.evaluation_files.content import messages_of
from toolevals.grading.files.evaluation_files.entries import (
    WORDS_ONLY,
    entry,
    expected_calls,
    external_id,
    ideal_expectation,
    strata_in,
    tools_at,
)
from toolevals.grading.files.evaluation_files.entry import (
    Entry,
    Found,
    counted,
    entries_read,
    items_at,
    keys,
    object_at,
    object_in,
    unknown_keys,
)
from toolevals.grading.files.evaluation_files.judging import Answer, Row
from toolevals.grading.files.evaluation_files.spans import Span, traces_read, with_rows
from toolevals.grading.reading.examples import ExampleRow, read_example
from toolevals.grading.reading.parsing.python_calls import calls_in_python
from toolevals.grading.reading.parsing.text import calls_said
from toolevals.grading.values import Expectation, ToolCall
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.verdicts import read_decided_by
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# Where a question stands that is no list of messages; the first one there counts.
QUESTIONS = ("input", "question", "query", "prompt", "text", "user", "instruction")
# Where an answer stands; the first one there counts.
ANSWERS = ("tool_calls", "messages", "message", "output", "answer", "expected", "ideal", "reference", "response")


def langsmith_example(value: object) -> ExampleRow:
    """Return one LangSmith example. Raises InvalidDocument."""
    row = entry(value)
    inputs, outputs = _part(row, "inputs"), _part(row, "outputs")
    metadata = _part(row, "metadata")
    left: list[Problem] = []
    content = _content(inputs, left)
    tools, lost = _tools(inputs, metadata)
    expectation, words = _expectation(outputs, left)
    losses = (*left, *lost)
    rationale = metadata.get("rationale") or outputs.get("rationale")
    return ExampleRow(
        external_id=external_id(
            metadata.get("external_id") or row.get("id"), "langsmith", [content, inputs.get("tools")]
        ),
        input=content,
        tools=tools,
        expectation=expectation,
        rationale=rationale if isinstance(rationale, str) else "",
        strata=strata_in(metadata),
        losses=(*losses, Problem("/outputs", WORDS_ONLY)) if words else losses,
        decided_by=read_decided_by(metadata.get("decided_by") or "", "/metadata/decided_by"),
    )


def _part(row: JsonMapping, key: str) -> JsonMapping:
    value = row.get(key)
    if value is None and key != "inputs":
        return {}
    if not isinstance(value, Mapping):
        raise InvalidDocument.at(f"/{key}", "is not an object")
    return value


def _content(inputs: JsonMapping, left: list[Problem]) -> JsonObject:
    if isinstance(given := inputs.get("messages"), list):
        used, messages = "messages", _messages(given, left)
    else:
        used = next((key for key in QUESTIONS if isinstance(inputs.get(key), str)), "")
        texts = [key for key, value in inputs.items() if isinstance(value, str)]
        if not used and len(texts) == 1:
            used = texts[0]
        if not used:
            raise InvalidDocument.at("/inputs", f"has neither messages nor text under one of {', '.join(QUESTIONS)}")
        messages = [{"role": "user", "content": inputs[used]}]
    if not messages:
        raise InvalidDocument.at("/inputs/messages", "is an empty list")
    rest = {key: value for key, value in inputs.items() if key not in {used, "tools", "context"}}
    context = inputs.get("context")
    if isinstance(context, Mapping):
        rest = {**context, **rest}
    elif context is not None:
        rest["context"] = context
    return {"messages": messages} | ({"context": rest} if rest else {})


def _messages(given: list[Any], left: list[Problem]) -> list[JsonObject]:
    """Return messages with roles; LangChain's are turned into ours, and `left` grows by what these leave out."""
    if given and all(isinstance(each, dict) and isinstance(each.get("role"), str) and each["role"] for each in given):
        return given
    if not given:
        return []
    return [message.to_document() for message in messages_of(given, "/inputs/messages", left)]


def _tools(inputs: JsonMapping, metadata: JsonMapping) -> tuple[Any, tuple[Problem, ...]]:
    part, holder = ("/inputs", inputs) if "tools" in inputs else ("/metadata", metadata)
    try:
        tools, losses = tools_at(holder, "tools")
    except InvalidDocument as error:
        raise error.below(part) from None
    return tools, tuple(loss.below(part) for loss in losses)


def _expectation(outputs: JsonMapping, left: list[Problem]) -> tuple[Expectation | None, bool]:
    """Return what the outputs expect, and whether that is words without a call."""
    own = {key: outputs[key] for key in ("expectation", "expected_tool", "expected_args") if key in outputs}
    if own:
        try:
            return read_example({"id": "-", "input": {"messages": [{"role": "user"}]}, **own}).expectation, False
        except InvalidDocument as error:
            raise error.below("/outputs") from None
    key = next((key for key in ANSWERS if key in outputs), None)
    texts = [name for name, value in outputs.items() if isinstance(value, str)]
    if key is None and len(texts) == 1:
        key = texts[0]
    if key is None or outputs[key] in (None, "", {}):
        return None, False
    return _answer(outputs[key], f"/outputs/{key}", left)


def _answer(value: object, pointer: str, left: list[Problem]) -> tuple[Expectation | None, bool]:
    if value == []:
        return Expectation("no_call"), False
    message = value[-1] if isinstance(value, list) and isinstance(value[-1], dict) else value
    if isinstance(message, dict) and ("role" in message or message.get("type") in ("ai", "AIMessage")):
        (read,) = messages_of(message, pointer, left)
        calls = read.calls or calls_said(read, None)
        return (expected_calls(calls, pointer) if calls else Expectation("no_call")), False
    return ideal_expectation(value, pointer)


_RUN = keys(
    "id run_id trace_id name run_type parent_run_id inputs outputs error reference_example_id start_time end_time tags "
    "extra dotted_order child_runs child_run_ids direct_child_run_ids parent_run_ids serialized events session_id "
    "status feedback_stats app_path in_dataset manifest_id metadata attachments total_tokens prompt_tokens "
    "completion_tokens total_cost prompt_cost completion_cost first_token_time prompt_token_details "
    "completion_token_details prompt_cost_details completion_cost_details inputs_preview outputs_preview "
    "inputs_s3_urls outputs_s3_urls s3_urls execution_order last_queued_at share_token trace_tier "
    "trace_first_received_at ttl_seconds trace_upgrade price_model_id thread_id reference_dataset_id messages "
    "token_usage latency session_name feedback"
)
_EXAMPLE = keys(
    "id inputs outputs metadata created_at modified_at dataset_id source_run_id runs name attachments attachment_urls "
    "split"
)
_BY_PEOPLE = keys("app user human annotation")
# Keys of spans, which have inputs and outputs too, of this tool and of others.
_SPAN = keys("trace_id op_name span_id run_id request_id parent_id parent_run_id span_type started_at")
_TOOLS = ("tools", "functions")
# Keys of the record that LiteLLM logs.
_LITELLM = keys("messages response call_type model_parameters")


def detect_runs(item: JsonValue) -> str | None:
    """Return why an item is a run; None where it is none."""
    runs = item.get("runs") if isinstance(item, Mapping) else None
    if isinstance(runs, list) and runs and "run_type" not in item and "outputs" not in item:
        # A page of the API's query.
        item = runs[0]
    if isinstance(item, Mapping) and "run_type" in item and "inputs" in item:
        return "entries have run_type and inputs"
    return None


def detect_examples(item: object) -> str | None:
    """Return why an item is an example; None where it is none."""
    if not isinstance(item, Mapping) or item.keys() & _SPAN:
        return None
    if isinstance(item.get("inputs"), Mapping) and "outputs" in item:
        return "entries have inputs and outputs"
    return None


def read_runs(document: object) -> Iterator[Found]:
    """Yield a trial for each trace, named by its `reference_example_id` where it ran on an example."""
    spans: list[Span] = []
    said: list[Row] = []
    wrong: list[Found] = []
    is_page = isinstance(document, Mapping) and isinstance(document.get("runs"), list)
    for pointer, item in items_at(document, "runs" if is_page else ""):
        try:
            if _is_feedback(item):
                said.append(_feedback(item, pointer))
            else:
                spans += _spans(object_at(item), pointer)
        except InvalidDocument as error:
            wrong.append((pointer, error))
    if isinstance(document, Mapping) and isinstance(document.get("feedback"), list):
        said += (_feedback(object_at(each), f"/feedback/{place}") for place, each in enumerate(document["feedback"]))
    yield from wrong
    yield from traces_read(with_rows(spans, said), "langsmith")


def _is_feedback(item: object) -> bool:
    return isinstance(item, Mapping) and {"key", "run_id"} <= item.keys() and "run_type" not in item


def _feedback(item: JsonMapping, pointer: str, run: str = "") -> Row:
    """Return what someone said of a run; only what was entered in the page is known to be by a person."""
    source = object_in(item, "feedback_source")
    kind, key = str(source.get("type") or ""), str(item.get("key") or "feedback")
    correction, comment = item.get("correction"), item.get("comment")
    about = (str(item.get("run_id") or run), str(item.get("trace_id") or ""))
    value = item.get("score") if item.get("score") is not None else item.get("value")
    if isinstance(correction, Mapping) and correction.keys() <= {"score", "value", "comment"}:
        # A person has corrected the score, not the output.
        value, correction = correction.get("score", correction.get("value")), None
        kind, source = "app", {}
    if kind not in _BY_PEOPLE:
        return Row(
            about, None, Problem(pointer, f"{key} is by a program ({kind or 'no source'}), not a person: left out")
        )
    metadata = object_in(source, "metadata")
    names = (source.get("user_name"), source.get("user_id"), source.get("ls_user_id"), metadata.get("ls_user_id"))
    author = str(next(filter(None, names), ""))
    said = Answer(author, key, value, comment if isinstance(comment, str) else "", correction, pointer)
    return Row(about, said)


def read_examples(document: object) -> Iterator[Found]:
    """Yield the examples, each with its expected outputs."""
    yield from entries_read(items_at(document), _example)


def _example(item: JsonMapping) -> Entry:
    row = langsmith_example(item)
    losses = (*row.losses, *unknown_keys(item, _EXAMPLE))
    return Entry(replace(row, losses=losses), losses=losses)


def _spans(item: JsonMapping, pointer: str) -> Iterator[Span]:
    """Yield a run and the runs below it, at any depth."""
    name = item.get("id") or item.get("run_id")
    if not isinstance(name, str) or not name:
        raise InvalidDocument.at("", "is a run without id")
    kind = item.get("run_type")
    yield Span(
        id=name,
        trace=str(item.get("trace_id") or name),
        parent=str(item.get("parent_run_id") or ""),
        kind="model" if kind == "llm" else "tool" if kind == "tool" else "other",
        name=str(item.get("name") or ""),
        given=_tool_input(item) if kind == "tool" else _inputs(item),
        made=_tool_output(item) if kind == "tool" else item.get("outputs"),
        start=str(item.get("dotted_order") or item.get("start_time") or ""),
        pointer=pointer,
        error=item["error"] if isinstance(item.get("error"), str) and item["error"] else None,
        tools=_offered(item),
        example=str(item.get("reference_example_id") or ""),
        usage=_usage(item),
        losses=_losses(item),
        answers=_embedded(item)[0],
    )
    children = item.get("child_runs")
    for place, child in enumerate(children if isinstance(children, list) else ()):
        try:
            yield from _spans(object_at(child), f"{pointer}/child_runs/{place}")
        except InvalidDocument as error:
            raise error.below(f"/child_runs/{place}") from None


def _inputs(item: JsonMapping) -> Any:
    """Return what a run was given. LiteLLM logs its whole record there, with the response in it."""
    inputs = item.get("inputs")
    if isinstance(inputs, Mapping) and inputs.keys() >= _LITELLM:
        return {"messages": inputs["messages"]}
    return inputs


def _tool_input(item: JsonMapping) -> Any:
    inputs = item.get("inputs")
    given = inputs["input"] if isinstance(inputs, Mapping) and set(inputs) == {"input"} else inputs
    # LangChain writes a tool's arguments as Python's text of a dict.
    return _python_dict(given) if isinstance(given, str) and given.lstrip().startswith("{") else given


def _python_dict(text: str) -> Any:
    """Return a dict that is written as Python writes it; any other text as it is."""
    call = next(iter(calls_in_python(f"tool(given={text})") or ()), None)
    found = call.arguments.get("given") if isinstance(call, ToolCall) else None
    return found if isinstance(found, dict) else text


def _tool_output(item: JsonMapping) -> Any:
    outputs = item.get("outputs")
    made = outputs["output"] if isinstance(outputs, Mapping) and set(outputs) == {"output"} else outputs
    return made["content"] if isinstance(made, Mapping) and "content" in made else made


def _offered(item: JsonMapping) -> Any:
    extra = object_in(item, "extra")
    parameters = object_in(object_in(item, "inputs"), "model_parameters")
    for holder in (
        item.get("inputs"),
        parameters,
        extra.get("invocation_params"),
        extra.get("options"),
        extra.get("metadata"),
    ):
        if isinstance(holder, Mapping):
            for key in _TOOLS:
                if isinstance(tools := holder.get(key), list) and tools:
                    return tools
    return None


def _usage(item: JsonMapping) -> dict[str, float]:
    return counted(input_tokens=item.get("prompt_tokens"), output_tokens=item.get("completion_tokens"))


def _losses(item: JsonMapping) -> tuple[Problem, ...]:
    counted_only = [
        Problem("/feedback_stats", f"{name} is a sum without who said it: put the rows of feedback into the file")
        for name in object_in(item, "feedback_stats")
        if not isinstance(item.get("feedback"), list)
    ]
    return (*unknown_keys(item, _RUN), *_embedded(item)[1], *counted_only)


def _embedded(item: JsonMapping) -> tuple[tuple[Answer, ...], tuple[Problem, ...]]:
    """Return what people said of a run where the run holds it, and what no person said."""
    given = item.get("feedback")
    listed = given if isinstance(given, list) else []
    rows = [_feedback(object_at(each), f"/feedback/{place}") for place, each in enumerate(listed)]
    return tuple(r.answer for r in rows if r.answer is not None), tuple(r.loss for r in rows if r.loss is not None)
