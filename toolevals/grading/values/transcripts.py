"""Define what an agent did: messages, tool calls, tool results, the final answer.

Defines the time, tokens and cost of one message, as far as they were recorded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonMapping, JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Measures:
    """The time, tokens and cost of a message: None, or no count, is not recorded and never nothing.

    Of the assistant's it is the model's step: milliseconds, tokens by the names of `Transcript.usage`, and its cost. Of
    a tool's it is the execution of the call that the message answers.
    """

    latency_ms: float | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    cost: float | None = None

    def __bool__(self) -> bool:
        return self.latency_ms is not None or bool(self.usage) or self.cost is not None

    def to_document(self) -> JsonObject:
        """Return what is recorded."""
        document: JsonObject = {}
        if self.latency_ms is not None:
            document["latency_ms"] = self.latency_ms
        if self.usage:
            document["usage"] = dict(self.usage)
        if self.cost is not None:
            document["cost"] = self.cost
        return document


def measures_in(document: JsonObject) -> Measures | None:
    """Return what a message's document records, None where that is nothing."""
    found = Measures(document.get("latency_ms"), document.get("usage") or {}, document.get("cost"))
    return found or None


# Putting calls to expectations takes time in proportion to the calls: some milliseconds each where 256 are expected.
MOST_CALLS = 2_000
# How `Transcript.error` begins where an agent was reached, and no one knows all that it did.
NOT_WHOLE = "What the agent did was not recorded whole"
# Why a conversation was cut before its end.
CUTS: Mapping[str, str] = {
    "steps": "it reached its limit of steps",
    "loop": "one call was repeated",
    "errors": "too many calls failed in succession",
    "broken": "the agent stopped before finishing",
}


@dataclass(frozen=True, slots=True, init=False)
class ToolCall:
    """One call that can be read."""

    name: str
    arguments: JsonObject
    id: str | None

    def __init__(
        self,
        name: str,
        arguments: JsonObject | None = None,
        id: str | None = None,  # noqa: A002 (the field's name in every format)
    ) -> None:
        _set_name(self, name)
        _set_arguments(self, {} if arguments is None else arguments)
        _set_id(self, id)

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        document: JsonObject = {"name": self.name, "arguments": self.arguments}
        if self.id is not None:
            document["id"] = self.id
        return document


# The slots' own setters: a frozen class has no quicker way in, and a call is made for every card.
_set_name = vars(ToolCall)["name"].__set__
_set_arguments = vars(ToolCall)["arguments"].__set__
_set_id = vars(ToolCall)["id"].__set__


@value_class
class MalformedCall:
    """An attempt at a call that no one can read.

    `position` counts characters into what was written, of which `text` is the beginning. `name` is the tool's name
    where that much was readable.
    """

    reason: str
    position: int | None = None
    text: str = ""
    name: str | None = None
    id: str | None = None

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        malformed: JsonObject = {"reason": self.reason}
        if self.position is not None:
            malformed["position"] = self.position
        if self.text:
            malformed["text"] = self.text
        document: JsonObject = {"malformed": malformed}
        if self.name is not None:
            document["name"] = self.name
        if self.id is not None:
            document["id"] = self.id
        return document


Call: TypeAlias = ToolCall | MalformedCall


@value_class
class ToolResult:
    """The answer of a tool, and the call that it answers (None where that is not known, or cannot be read).

    `latency_ms` is what its execution took; None where that is not recorded.
    """

    call: ToolCall | None
    content: str
    is_error: bool
    latency_ms: float | None = None


@value_class
class Message:
    """One message. `call_id` names the call that a tool's message answers.

    `from_text` says that its calls were read from its content, where only our own grading looks for them. `thought` is
    what the agent wrote for itself, where its format tells that from what was said: no words to anyone.

    What it took is no part of what was said: messages are equal without it.
    """

    role: str
    content: str | None = None
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    is_error: bool = False
    measures: Measures | None = field(default=None, compare=False)
    from_text: bool = False
    thought: str | None = None

    def thought_document(self) -> JsonObject:
        """Return the normal form with what the agent thought."""
        document = self.to_document()
        return document if self.thought is None else document | {"thought": self.thought}

    def to_document(self) -> JsonObject:
        """Return the normal form of what was said, without what is at its default and what it took, and no thought."""
        document: JsonObject = {"role": self.role}
        if self.content is not None:
            document["content"] = self.content
        if self.calls:
            document["calls"] = [call.to_document() for call in self.calls]
        if self.call_id is not None:
            document["call_id"] = self.call_id
        if self.is_error:
            document["is_error"] = True
        if self.from_text:
            document["from_text"] = True
        return document


@value_class
class StateChanges:
    """The changes of a conversation in its world, kept in place of the whole state.

    `since` is the digest (`canonical.digest`) of the state that the world began with, `patch` leads from it to the
    final one (see `value_differences`), `raised` is what a tool raised on a call that was not made good.
    """

    since: str
    patch: tuple[JsonMapping, ...] = ()
    raised: str | None = None

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        document: JsonObject = {"since": self.since, "patch": [dict(operation) for operation in self.patch]}
        return document if self.raised is None else document | {"raised": self.raised}


@value_class
class Refusal:
    """A call or a result that a guard refused, with the guard's reasons: `rule`, `pointer` and `sentence` of each.

    `message` is the place of the agent's message that wanted the call. Where it `was_made`, the call is among those of
    the message, and its result was refused or the guard was asked afterwards; else it stands here alone.
    """

    call: Call
    message: int
    reasons: tuple[JsonMapping, ...]
    was_made: bool = False

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that refused it, each once."""
        return tuple(dict.fromkeys(reason["rule"] for reason in self.reasons))

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        said = {"call": self.call.to_document(), "message": self.message, "reasons": list(map(dict, self.reasons))}
        return {**said, "was_made": True} if self.was_made else said

    @classmethod
    def from_kept(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        reasons, was_made = tuple(document["reasons"]), document.get("was_made", False)
        return cls(_call(document["call"]), document["message"], reasons, was_made)


@value_class
class Transcript:
    """Holds what an agent did in one trial.

    `usage` counts tokens (`input_tokens`, `output_tokens`). `latency_ms` is in milliseconds. `error` says why the
    agent could not be reached, or after NOT_WHOLE what is lost: such a case is left out of the scores. `state` is the
    whole state of the agent's world at the end, where someone kept it, and `state_changes` what became of a simulated
    world. `ended` says why the conversation was cut before its end (a key of CUTS), None where it was not. `recorded`
    are facts that others recorded of the trial: `source`, `reward` (success is 1), `ending`. `goal` is what the run was
    for, where it says so itself. `refusals` are what a guard refused; None where no guard was asked.
    """

    messages: tuple[Message, ...] = ()
    answer: str | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    latency_ms: float | None = None
    error: str | None = None
    state: JsonMapping | None = None
    state_changes: StateChanges | None = None
    ended: str | None = None
    recorded: JsonMapping | None = None
    goal: str | None = None
    refusals: tuple[Refusal, ...] | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call, in order."""
        if len(self.messages) == 1:
            return self.messages[0].calls
        return tuple(call for message in self.messages for call in message.calls)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Every tool's answer, in order.

        It answers the last call before it that has its id; without an id, the earliest call without one that is not
        answered yet.
        """
        made: list[ToolResult] = []
        named: dict[str, Call] = {}
        unnamed: deque[Call] = deque()
        for message in self.messages:
            for call in message.calls:
                if call.id is None:
                    unnamed.append(call)
                else:
                    named[call.id] = call
            if message.role == "tool":
                loose = unnamed.popleft() if unnamed and message.call_id is None else None
                found = loose if message.call_id is None else named.get(message.call_id)
                answered = found if isinstance(found, ToolCall) else None
                latency = None if message.measures is None else message.measures.latency_ms
                made.append(ToolResult(answered, message.content or "", message.is_error, latency))
        return tuple(made)

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Read the native form (`schemas/transcript.v1.json`). Raises InvalidDocument."""
        require_valid(document, "transcript")
        return cls.from_kept(document)

    @classmethod
    def from_kept(cls, document: JsonValue) -> Self:
        """Read a document that the schema has passed, such as one that we keep. Raises InvalidDocument if too long."""
        return cls(
            messages=with_few_calls(map(_message, document.get("messages", ())), "/messages"),
            answer=document.get("answer"),
            usage=document.get("usage", {}),
            latency_ms=document.get("latency_ms"),
            error=document.get("error"),
            state=document.get("state"),
            state_changes=_state_changes(document.get("state_changes")),
            ended=document.get("ended"),
            recorded=document.get("recorded"),
            goal=document.get("goal"),
            refusals=_refusals(document.get("refusals")),
        )

    def to_document(self) -> JsonObject:
        """Return the normal form, without what is at its default."""
        said: JsonObject = {
            "messages": [_measured_document(message) for message in self.messages],
            "answer": self.answer,
            "usage": dict(self.usage) or None,
            "latency_ms": self.latency_ms,
            "error": self.error,
            "state": None if self.state is None else dict(self.state),
            "state_changes": self.state_changes and self.state_changes.to_document(),
            "ended": self.ended,
            "recorded": None if self.recorded is None else dict(self.recorded),
            "goal": self.goal,
            "refusals": None if self.refusals is None else [refusal.to_document() for refusal in self.refusals],
        }
        return {name: value for name, value in said.items() if value is not None}


def with_refused(transcript: Transcript) -> Transcript:
    """Return a transcript with the calls that a guard refused among those of their messages, as if no guard was there.

    The same transcript where every call was made.
    """
    refused: dict[int, list[Call]] = {}
    for refusal in transcript.refusals or ():
        if not refusal.was_made:
            refused.setdefault(refusal.message, []).append(refusal.call)
    if not refused:
        return transcript
    messages = (
        replace(message, calls=(*message.calls, *refused.get(place, ())))
        for place, message in enumerate(transcript.messages)
    )
    return replace(transcript, messages=tuple(messages), refusals=None)


def with_few_calls(messages: Iterable[Message], pointer: str) -> tuple[Message, ...]:
    """Return the messages. Raises InvalidDocument, at the pointer, where they hold more than MOST_CALLS calls."""
    kept = tuple(messages)
    count = sum(len(message.calls) for message in kept)
    if count > MOST_CALLS:
        raise InvalidDocument.at(pointer, f"holds {count:,} calls, and a transcript has at most {MOST_CALLS:,}")
    return kept


def _refusals(documents: list[JsonObject] | None) -> tuple[Refusal, ...] | None:
    return None if documents is None else tuple(map(Refusal.from_kept, documents))


def _state_changes(document: JsonObject | None) -> StateChanges | None:
    if document is None:
        return None
    return StateChanges(document["since"], tuple(document["patch"]), document.get("raised"))


def _measured_document(message: Message) -> JsonObject:
    document = message.thought_document()
    return document if message.measures is None else document | message.measures.to_document()


def _message(document: JsonObject) -> Message:
    return Message(
        role=document["role"],
        content=document.get("content"),
        calls=tuple(_call(call) for call in document.get("calls", ())),
        call_id=document.get("call_id"),
        is_error=document.get("is_error", False),
        from_text=document.get("from_text", False),
        thought=document.get("thought"),
        measures=measures_in(document),
    )


def _call(document: JsonObject) -> Call:
    if (malformed := document.get("malformed")) is None:
        return ToolCall(document["name"], document["arguments"], document.get("id"))
    return MalformedCall(
        malformed["reason"],
        malformed.get("position"),
        malformed.get("text", ""),
        document.get("name"),
        document.get("id"),
    )
