"""Make the sample's week of production: what the baseline and the shop really did, and conversations as recorded.

Nothing is made up but the days: a span has the time that was measured or recorded, and tokens and a cost where those
were recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from time import perf_counter
from typing import Final

from toolevals.agents.code import CodeSimulator
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import Message, ToolCall
from toolevals.grading.values.call_results import Answered, events_of
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.baseline import BaselineOptions, respond
from toolevals.runs.files.recorded_files import recorded_runs, result_document
from toolevals.sample import content
from toolevals.sdk.writing import arguments_text, messages_text, result_text

DAYS: Final = 7
# Of the baseline in these traces, as in the sample's later runs.
THRESHOLD: Final = 0.04
ENVIRONMENT: Final = "sample data, dated back"
_OK, _ERROR = 1, 2
_USAGE: Final = ("input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Author:
    """Names the agent that had a conversation, in one version."""

    name: str
    version: str
    model: str


@dataclass(slots=True)
class Conversation:
    """Holds the steps of one conversation so far, what its model and its tools did, and the milliseconds they took."""

    author: Author
    name: str
    start: datetime
    user: str = ""
    spans: list[JsonObject] = field(default_factory=list)
    passed: float = 0.0

    @property
    def trace_id(self) -> str:
        """Return an id that follows from who had it and its name: made twice, it is one trace."""
        return _id(f"{self.author.name} {self.author.version} {self.name}", 32)

    def step(self, name: str, attributes: JsonMapping, took: float, error: str | None = None) -> None:
        """Add a step that follows the one before and took so many milliseconds."""
        times = (self.passed, self.passed + took)
        self.spans.append(self._span(len(self.spans) + 1, name, attributes, times, error))
        self.passed += took

    def export(self) -> JsonObject:
        """Return it as an export of OTLP: the steps, and the turn around them."""
        author = self.author
        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": author.name, "user.id": self.user}
        about |= {"gen_ai.agent.version": author.version, "gen_ai.conversation.id": self.name}
        whole = self._span(0, f"invoke_agent {author.name}", about, (0.0, self.passed))
        resource = {"service.name": author.name, "service.version": author.version}
        resource |= {"deployment.environment.name": ENVIRONMENT}
        spans = {"scope": {"name": "toolevals.sample"}, "spans": [whole, *self.spans]}
        return {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [spans]}

    def _span(
        self, number: int, name: str, attributes: JsonMapping, times: tuple[float, float], error: str | None = None
    ) -> JsonObject:
        start, end = (int((self.start.timestamp() * 1000 + time) * 10**6) for time in times)
        return {
            "traceId": self.trace_id,
            "spanId": _id(f"{self.trace_id} {number}", 16),
            "parentSpanId": _id(f"{self.trace_id} 0", 16) if number else "",
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(end),
            "attributes": _attributes(attributes),
            "status": {"code": _OK} if error is None else {"code": _ERROR, "message": error},
        }


def shop_conversations(end: datetime) -> list[Conversation]:
    """Ask the baseline what customers wrote, the first two fifths with the short descriptions, and call the shop."""
    examples = content.examples()
    turn = len(examples) * 2 // 5
    moments = _moments(end, len(examples))
    authors = [Author("shop support", version, "baseline") for version in ("descriptions cut", "descriptions repaired")]
    tools = [read_tools(content.shortened_tools(repaired=repaired)).tools for repaired in (False, True)]
    found = []
    with CodeSimulator(content.simulator(), trusted=True) as shop:
        for place, (row, start) in enumerate(zip(examples, moments, strict=True)):
            late = place >= turn
            user = str(row.input.get("context", {}).get("customer_id", ""))
            made = Conversation(authors[late], row.external_id, start, user)
            begun = perf_counter()
            transcript = respond(row.input, tools[late], BaselineOptions(THRESHOLD))
            _model(made, row.input["messages"], transcript.messages[0], _since(begun))
            with shop.world(row.input) as world:
                for call in transcript.messages[0].calls:
                    if isinstance(call, ToolCall):
                        begun = perf_counter()
                        answer = world.call(call)
                        _tool(made, call, answer.content, _since(begun), is_error=answer.is_error)
            found.append(made)
    return found


def recorded_conversations(end: datetime, models: Mapping[str, str]) -> list[Conversation]:
    """Return the recorded conversations with an airline, of files by model: with their own times, tokens and costs."""
    runs = [
        (Author("airline desk", "recorded", model), run)
        for name, model in models.items()
        for run in recorded_runs(result_document(content.recorded(name)))
    ]
    found = []
    for start, (author, run) in zip(_moments(end, len(runs)), runs, strict=True):
        made = Conversation(author, f"airline-{run.task_id}-{author.model}", start)
        said: list[JsonMapping] = [{"role": "system", "content": run.policy}]
        answers = {id(each.made.call): each.message for each in events_of(run.transcript) if isinstance(each, Answered)}
        for message in run.transcript.messages:
            if message.role == "assistant":
                _model(made, said, message, _took(message))
                for call in message.calls:
                    answer = answers.get(id(call))
                    if answer is not None and isinstance(call, ToolCall):
                        _tool(made, call, answer.content or "", _took(answer), is_error=answer.is_error)
            said.append(_message(message))
        found.append(made)
    return found


def _moments(end: datetime, count: int) -> Iterator[datetime]:
    """Yield moments of the week before, as far apart as each other, the last of them an hour before its end."""
    last = end - timedelta(hours=1)
    for place in range(count):
        yield last - timedelta(days=DAYS) * (count - 1 - place) / count


def _model(made: Conversation, said: Iterable[JsonMapping], message: Message, took: float) -> None:
    measures = message.measures
    usage = measures.usage if measures else {}
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": made.author.model,
        "gen_ai.input.messages": messages_text(said),
        "gen_ai.output.messages": messages_text([_message(message)]),
        **{f"gen_ai.usage.{name}": int(usage[name]) for name in _USAGE if name in usage},
        "gen_ai.usage.cost": measures.cost if measures else None,
    }
    made.step(f"chat {made.author.model}", attributes, took)


def _tool(made: Conversation, call: ToolCall, result: str, took: float, *, is_error: bool) -> None:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": arguments_text(call.arguments),
        "gen_ai.tool.call.result": result_text(result),
        "error.type": "tool_error" if is_error else None,
    }
    made.step(f"execute_tool {call.name}", attributes, took, result if is_error else None)


def _message(message: Message) -> JsonObject:
    """Return a message as the writer of spans takes it: in the form of OpenAI."""
    calls: Sequence[JsonObject] = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.calls
        if isinstance(call, ToolCall)
    ]
    document: JsonObject = {"role": message.role, "content": message.content}
    document |= {"tool_call_id": message.call_id} if message.call_id is not None else {}
    return document | ({"tool_calls": list(calls)} if calls else {})


def _took(message: Message) -> float:
    return (message.measures.latency_ms if message.measures else None) or 0.0


def _since(begun: float) -> float:
    return (perf_counter() - begun) * 1000


def _attributes(values: JsonMapping) -> list[JsonObject]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value not in (None, "")]


def _value(value: object) -> JsonObject:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _id(text: str, length: int) -> str:
    return sha256(text.encode()).hexdigest()[:length]


def exported(conversations: Sequence[Conversation]) -> JsonObject:
    """Return conversations as one export of OTLP."""
    return {"resourceSpans": [each.export() for each in conversations]}
