"""Runs `toolevals send`: sends the conversations of a file as traces, as an agent in production does.

A conversation becomes spans by OpenTelemetry's conventions for agents.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from labeling.imports.readers.recorded_tasks import domain_of
from toolevals.cli.inputs import read_input
from toolevals.cli.output import CommandError, Exit, note, say, say_progress
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.values import Message, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.call_results import Answered, events_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.files.recorded_files import recorded_runs, result_document, task_rows
from toolevals.sdk.writing import arguments_text, json_text, messages_text, result_text

_RECORDED = ("records", "simulations")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its name in the file, what the agent was given and offered, and what was said and done."""

    name: str
    given: tuple[JsonMapping, ...]
    tools: tuple[ToolSpec, ...]
    transcript: Transcript


def conversations_read(content: bytes) -> Iterator[Conversation]:
    """Yield the conversations of a file, which may be packed with gzip. Raises InvalidDocument."""
    document = _recorded_document(content)
    if document is None:
        yield from _of_evaluation_file(content)
    else:
        yield from _of_recorded_runs(document)


def _recorded_document(content: bytes) -> Any:
    """Return the document of a file of recorded runs; None for every other file."""
    try:
        document = result_document(content)
    except InvalidDocument:
        return None
    first = document[0] if isinstance(document, list) and document else document
    is_recorded = isinstance(first, dict) and ("traj" in first or any(key in first for key in _RECORDED))
    return document if is_recorded else None


def _of_recorded_runs(document: object) -> Iterator[Conversation]:
    """Yield a conversation for each recorded trial. Tools are those that the file holds, else made of the calls."""
    domain = domain_of(document)
    rows = {row.external_id: row for row in task_rows(document, "unordered", offered=False)}
    for run in recorded_runs(document):
        row = rows.get(f"{domain}-{run.task_id}") or rows.get(f"task-{run.task_id}")
        tools = row.tools if row and isinstance(row.tools, list) else []
        policy = ({"role": "system", "content": run.policy},) if run.policy else ()
        yield Conversation(f"{domain}-{run.task_id}-{run.trial}", policy, tuple(tools), run.transcript)


def _of_evaluation_file(content: bytes) -> Iterator[Conversation]:
    """Yield a conversation for each trial of the file of an evaluation tool, or of a plain log."""
    names: dict[str, int] = {}
    for place, found in evaluation_file(content).entries():
        if isinstance(found, InvalidDocument):
            raise found.below(f"/{place.number}")
        if found.trial is None:
            continue
        tools = found.example.tools if found.example and isinstance(found.example.tools, list) else []
        said = found.trial.content.get("messages")
        given = tuple(each for each in said if isinstance(each, dict)) if isinstance(said, list) else ()
        number = names[found.trial.external_id] = names.get(found.trial.external_id, -1) + 1
        yield Conversation(f"{found.trial.external_id}-{number}", given, tuple(tools), found.trial.transcript)


# What a step is said to take, in nanoseconds: a span needs a length, and recorded files hold none.
MODEL_NS, TOOL_NS, USER_NS = 800_000_000, 150_000_000, 2_000_000_000
_OK, _ERROR = 1, 2
_INTERNAL, _CLIENT = 1, 3
# Bytes of the spans of one batch, a conversation at least.
BATCH_BYTES = 1_500_000
# Between the beginnings of two conversations, in nanoseconds.
APART_NS = 30 * 10**9
# No conversation of a benchmark is said to take longer.
LONGEST_NS = 600 * 10**9


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent that is named as the author of the conversations."""

    name: str
    version: str = ""
    model: str = ""


@dataclass(slots=True)
class _Trace:
    """The spans of one conversation so far, and the time that has passed in it."""

    trace_id: str
    now: int
    spans: list[JsonObject] = field(default_factory=list)

    def add(self, name: str, attributes: JsonMapping, *, kind: int, took: int, error: str | None = None) -> None:
        """Append a span below the root that begins now, and move on to its end."""
        number = len(self.spans) + 1
        said = [{"key": key, "value": _value(value)} for key, value in attributes.items() if value not in (None, "")]
        self.spans.append({
            "traceId": self.trace_id,
            "spanId": _id(f"{self.trace_id} {number}", 8),
            "parentSpanId": _id(f"{self.trace_id} 0", 8),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(self.now),
            "endTimeUnixNano": str(self.now + took),
            "attributes": said,
            "status": {"code": _OK} if error is None else {"code": _ERROR, "message": error},
        })  # fmt: skip
        self.now += took


def spans_of_conversation(conversation: Conversation, agent: Agent, start: int) -> list[JsonObject]:
    """Return the spans in OTLP's JSON: the agent's turn, each call of the model and each call of a tool.

    Ids follow from the conversation's name and its agent: what is sent twice is the same trace. `start` is in
    nanoseconds since 1970.
    """
    trace = _Trace(_id(f"{agent.name} {agent.version} {conversation.name}", 16), start)
    said: list[JsonObject] = [dict(each) for each in conversation.given]
    tools = json_text([_definition(tool) for tool in conversation.tools]) if conversation.tools else None
    transcript = conversation.transcript
    answers = {id(each.made.call): each.message for each in events_of(transcript) if isinstance(each, Answered)}
    for message in (*transcript.messages, *_last(conversation)):
        document = _message(message)
        if message.role == "assistant":
            _model(trace, agent, said, document, tools)
            for call in message.calls:
                if isinstance(call, ToolCall):
                    _tool(trace, call, answers.get(id(call)))
        elif message.role == "user":
            trace.now += USER_NS if trace.spans else 0
        said.append(document)
    root = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent.name,
        "gen_ai.agent.version": agent.version,
        # Two files may name their conversations the same.
        "gen_ai.conversation.id": f"{agent.name}/{conversation.name}",
    }
    end, trace.now = trace.now, start
    trace.add(f"invoke_agent {agent.name}", root, kind=_INTERNAL, took=max(end - start, 1))
    whole = trace.spans.pop()
    return [{**whole, "spanId": whole["parentSpanId"], "parentSpanId": ""}, *trace.spans]


def export_of(spans: list[JsonObject], agent: Agent) -> JsonObject:
    """Return spans as one export of OTLP."""
    resource = {"service.name": agent.name, "service.version": agent.version}
    attributes = [{"key": key, "value": _value(value)} for key, value in resource.items() if value]
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes},
                "scopeSpans": [{"scope": {"name": "toolevals.cli"}, "spans": spans}],
            }
        ]
    }


def _model(trace: _Trace, agent: Agent, said: list[JsonObject], made: JsonObject, tools: str | None) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": agent.model,
        "gen_ai.tool.definitions": tools,
        "gen_ai.input.messages": messages_text(said),
        "gen_ai.output.messages": messages_text([made]),
    }
    trace.add(f"chat {agent.model}".strip(), attributes, kind=_CLIENT, took=MODEL_NS)


def _tool(trace: _Trace, call: ToolCall, answer: Message | None) -> None:
    failed = answer is not None and answer.is_error
    result = result_text(answer.content or "") if answer is not None else None
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": arguments_text(call.arguments),
        "gen_ai.tool.call.result": result,
        "error.type": "tool_error" if failed else None,
    }
    error = result if failed else None
    trace.add(f"execute_tool {call.name}", attributes, kind=_INTERNAL, took=TOOL_NS, error=error)


def _last(conversation: Conversation) -> Iterator[Message]:
    """Yield the final answer where no message holds it."""
    answer = conversation.transcript.answer
    if answer and not any(each.content == answer for each in conversation.transcript.messages):
        yield Message("assistant", answer)


def _message(message: Message) -> JsonObject:
    """Return a message as the writer of spans takes it: in the form of OpenAI."""
    document: JsonObject = {"role": message.role, "content": message.content}
    if message.call_id is not None:
        document["tool_call_id"] = message.call_id
    calls = [_call(call.to_document()) for call in message.calls]
    return document | ({"tool_calls": calls} if calls else {})


def _call(call: JsonMapping) -> JsonObject:
    # What no one could read is sent as it was written.
    arguments = call["malformed"].get("text", "") if "malformed" in call else call["arguments"]
    return {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": arguments}}


def _definition(tool: ToolSpec) -> JsonObject:
    """Return a tool as OpenTelemetry defines it."""
    said = {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {name: value for name, value in said.items() if value}


def _value(value: object) -> JsonObject:
    return {"stringValue": str(value)}


def _id(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * length]


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("send", epilog="exit status: 0 all were taken, 2 some spans were rejected")
    words = "recorded runs of tau-bench or tau2-bench, or a file of another evaluation tool; - is standard input"
    parser.add_argument("file", type=Path, metavar="FILE", help=words)
    parser.add_argument("--agent", required=True, metavar="NAME", help="agent name to record on the traces")
    parser.add_argument("--agent-version", default="", metavar="VERSION")
    parser.add_argument("--model", default="", metavar="NAME")
    parser.add_argument("--limit", type=int, metavar="N", help="send the first N conversations")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the batches to a file instead of sending them"
    )
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Send, or write, the conversations; return the exit status."""
    agent = Agent(arguments.agent, arguments.agent_version, arguments.model)
    content = read_input(arguments.file)
    try:
        found = list(islice(conversations_read(content), arguments.limit))
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{arguments.file}: {error}") from None
    if not found:
        raise CommandError(Exit.DATA, f"{arguments.file}: holds no conversation")
    if arguments.output:
        with arguments.output.open("wb") as stream:
            for _, batch in _batches(found, agent):
                stream.write(orjson.dumps(batch) + b"\n")
        say(f"{len(found):,} conversations written to {arguments.output}")
        return Exit.OK
    return _send(arguments, found, agent)


def _send(arguments: argparse.Namespace, conversations: Sequence[Conversation], agent: Agent) -> int:
    client = project_of(arguments)
    rejected, sent = 0, 0
    for count, batch in _batches(conversations, agent):
        # What comes twice is stored once: a batch whose answer was lost is sent again.
        answer = (client.post_once(f"{client.server}/v1/traces", json=batch) or {}).get("partialSuccess") or {}
        rejected += int(answer.get("rejectedSpans") or 0)
        if answer.get("errorMessage"):
            note(answer["errorMessage"])
        sent += count
        say_progress(f"{sent:,} of {len(conversations):,} conversations")
    say(f"{len(conversations):,} conversations sent: {client.page('traces/')}")
    if rejected:
        note(f"{rejected:,} spans were rejected")
    return Exit.FAILED if rejected else Exit.OK


def _batches(conversations: Sequence[Conversation], agent: Agent) -> Iterator[tuple[int, JsonObject]]:
    """Yield exports, each with how many conversations it holds; they end a while ago, one after the other."""
    now = time.time_ns()
    spans: list[JsonObject] = []
    size = count = 0
    for number, conversation in enumerate(conversations):
        made = spans_of_conversation(conversation, agent, now - LONGEST_NS - (len(conversations) - number) * APART_NS)
        bytes_of = len(orjson.dumps(made))
        if spans and size + bytes_of > BATCH_BYTES:
            yield count, export_of(spans, agent)
            spans, size, count = [], 0, 0
        spans, size, count = [*spans, *made], size + bytes_of, count + 1
    if spans:
        yield count, export_of(spans, agent)
