"""Holds the conversation between an agent, its tools and the user whom it talks to, until one of them ends it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from toolevals.agents.chats import Chat, Reply, UnreachableError
from toolevals.agents.guarding import CallGuard
from toolevals.agents.worlds import Nothing, NotSimulatedError, Refusals, ToolAnswer, World, WorldDiedError
from toolevals.grading.guard import GuardedConversation
from toolevals.grading.matching.value_differences import state_patch
from toolevals.grading.reading.parsing import Loss, Tally, transcript_in
from toolevals.grading.values import Call, MalformedCall, Measures, Message, StateChanges, ToolSpec, Transcript
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.thoughts import spoken
from toolevals.grading.values.tools import reads_of
from toolevals.json_types import JsonMapping

# What a simulated user says alone on a line when there is nothing more to say.
DONE = "###DONE###"


class User(Protocol):
    """Answers the agent's words."""

    def answer(self, messages: Sequence[Message]) -> str | None:
        """Return what the user says next, None where the conversation is over. Raises UnreachableError."""


class NoSimulatedUser:
    """The user of a decision point: the agent's first words to them are the last."""

    def answer(self, messages: Sequence[Message]) -> str | None:
        return None


class ScriptedUser:
    """Says fixed turns, one after the other, whatever the agent says."""

    def __init__(self, turns: Sequence[str]) -> None:
        self._turns = list(turns)
        self._said = 0

    def answer(self, messages: Sequence[Message]) -> str | None:
        if self._said == len(self._turns):
            return None
        self._said += 1
        return self._turns[self._said - 1]


class SimulatedUser:
    """A model that plays a user by an instruction which the agent never sees.

    It sees only what was said: the agent's words are the other's to it, its own are its own; tool calls, results,
    thoughts and the agent's system prompt are left out.
    """

    def __init__(self, chat: Chat, instruction: str) -> None:
        self._chat = chat
        self._instruction = instruction

    def answer(self, messages: Sequence[Message]) -> str | None:
        seen = [Message("system", self._prompt())]
        seen += [
            Message("user" if message.role == "assistant" else "assistant", message.content)
            for message in spoken(Transcript(tuple(messages))).messages
            if message.role in ("user", "assistant") and message.content
        ]
        said = (self._chat.reply(seen, ()).message.content or "").strip()
        if DONE in said:
            said = said.replace(DONE, "").strip()
            return said or None
        return said or None

    def _prompt(self) -> str:
        return (
            "You play a person who talks to an assistant. Say one turn at a time, in the person's own words, and "
            "nothing about these instructions. Give details only when they are asked for. "
            f"When the person has what they came for, or cannot get it, say {DONE} alone.\n\n{self._instruction}"
        )


class End(StrEnum):
    """The reason why a conversation ended."""

    ANSWER = "answer"  # the agent said something, and its user has nothing to add
    CALLS = "calls"  # it called tools behind which nothing stands
    STEPS = "steps"  # the cap on turns was reached
    LOOP = "loop"  # it made repeated one call
    ERRORS = "errors"  # too many tools failed in succession
    UNREACHABLE = "unreachable"  # the agent, its user or its world failed: errored, not failed


# The ends that are none of the conversation's own.
CUT = frozenset({End.STEPS, End.LOOP, End.ERRORS})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that end a conversation from outside.

    `steps` counts the agent's turns, `same_calls` how often one call with the same arguments may be made,
    `failures` how many failing results may follow each other.
    """

    steps: int = 30
    same_calls: int = 6
    failures: int = 6


@dataclass(frozen=True, slots=True)
class Task:
    """Holds what an agent is to do: an example's input (`messages`, perhaps `context`) and the tools offered with it.

    `id` tells the example from the others of a run and says nothing about it.
    """

    example: JsonMapping
    tools: Sequence[ToolSpec] = ()
    trial: int = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A transcript, why it ended, the model that the endpoint says has answered, and what was left out of answers."""

    transcript: Transcript
    end: End
    model: str = ""
    losses: tuple[Loss, ...] = ()


def converse(
    chat: Chat,
    task: Task,
    *,
    world: World | None = None,
    user: User | None = None,
    limits: Limits | None = None,
    guard: GuardedConversation | None = None,
) -> Conversation:
    """Let an agent talk to its user and call its tools. Never raises what they raise.

    The transcript holds what came after the example's own messages: the agent's turns, the tools' answers, and what
    the user said to them. Its usage and latency are sums over the agent's turns. With a `guard`, which has read nothing
    yet, calls that it refuses are not made: the agent reads why, and the transcript holds them apart, as `refusals`.
    """
    talk = _Talk(chat, task, world or Nothing(), user or NoSimulatedUser(), limits or Limits(), guard)
    error = None
    try:
        end = talk.run()
    except (UnreachableError, WorldDiedError) as failure:
        end, error = End.UNREACHABLE, str(failure)
    return Conversation(talk.transcript(error, end), end, talk.model, talk.tally.losses)


@dataclass(slots=True)
class _Talk:
    chat: Chat
    task: Task
    world: World
    user: User
    limits: Limits
    guard: GuardedConversation | None = None
    model: str = ""
    before: list[Message] = field(init=False)
    messages: list[Message] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    usage: Counter[str] = field(default_factory=Counter)
    latency_ms: float | None = None
    state: JsonMapping | None = None
    changes: StateChanges | None = None
    _refusals: Refusals = field(init=False)
    _made: Counter[str] = field(default_factory=Counter)
    _failures: int = 0
    _acts_alone: bool = False
    _guard: CallGuard = field(init=False)

    def __post_init__(self) -> None:
        self.before = list(transcript_in(self.task.example["messages"]).messages)
        self._guard = CallGuard(self.guard, self.before)
        self._refusals = Refusals(reads_of({tool.name: tool for tool in self.task.tools}))

    def run(self) -> End:
        """Talk to the end, and keep what became of the world by then."""
        before = self.world.state()
        end = self._turns()
        after = self.world.state()
        # Calls that an agent executed by itself left nothing in this world: the caller must make them again.
        if before is not None and after is not None and not self._acts_alone:
            patch = tuple(state_patch(before, after))
            self.changes = StateChanges(digest(before), patch, self._refusals.unmended)
        return end

    def _turns(self) -> End:
        for _ in range(self.limits.steps):
            said = self._turn()
            if said.calls:
                end = self._answer(said.calls)
                if end is not None:
                    return end
            else:
                answer = self.user.answer([*self.before, *self.messages])
                if answer is None:
                    return End.ANSWER
                self.messages.append(Message("user", answer))
                self._guard.say(self.messages[-1])
        return End.STEPS

    def _turn(self) -> Message:
        reply = self.chat.reply([*self.before, *self.messages], self.task.tools)
        self.messages += [*reply.before, _measured(reply)]
        self._acts_alone = self._acts_alone or any(message.calls for message in reply.before)
        self.state = reply.state or self.state
        self.usage.update(reply.usage)
        self.tally.add(reply.losses)
        if reply.latency_ms is not None:
            self.latency_ms = (self.latency_ms or 0.0) + reply.latency_ms
        self.model = reply.model or self.model
        return reply.message

    def _answer(self, calls: Sequence[Call]) -> End | None:
        """Answer every call of a turn; return why the conversation ends with them, if it does.

        The guard is asked about all of them before the first is made.
        """
        turn = len(self.messages) - 1
        places = self._guard.refuse(calls, self.messages)
        refused = [call for call, place in zip(calls, places, strict=True) if place is None]
        if max(map(self._repeats, refused), default=0) >= self.limits.same_calls:
            return End.LOOP
        for call, place in zip(calls, places, strict=True):
            if place is None:
                continue
            try:
                answer = self._executed(call)
            except NotSimulatedError:
                return End.CALLS
            took = None if answer.latency_ms is None else Measures(answer.latency_ms)
            said = Message("tool", answer.content, call_id=call.id, is_error=answer.is_error, measures=took)
            self._guard.read(call, place, said, turn, self.messages)
            self._failures = self._failures + 1 if answer.is_error else 0
            if self._failures >= self.limits.failures:
                return End.ERRORS
            if self._repeats(call) >= self.limits.same_calls:
                return End.LOOP
        return None

    def _repeats(self, call: Call) -> int:
        """Count a call, and return how often it was made or refused by now."""
        key = json.dumps(call.to_document() | {"id": None}, sort_keys=True)
        self._made[key] += 1
        return self._made[key]

    def _executed(self, call: Call) -> ToolAnswer:
        if isinstance(call, MalformedCall):
            # As providers answer a call that they cannot read. A world that answers nothing is asked first.
            self._require_world()
            return ToolAnswer(f"Error: the call could not be read: {call.reason}", is_error=True)
        answer = self.world.call(call)
        self._refusals.note(call, answer)
        return answer

    def _require_world(self) -> None:
        if isinstance(self.world, Nothing):
            raise NotSimulatedError

    def transcript(self, error: str | None, end: End) -> Transcript:
        """Return what was said so far."""
        last = self.messages[-1] if self.messages else None
        answer = last.content if last and last.role == "assistant" and not last.calls else None
        messages, refusals = self._guard.parted(self.messages)
        return Transcript(
            messages=messages,
            answer=answer,
            usage=dict(self.usage),
            latency_ms=self.latency_ms,
            error=error,
            state=self.state,
            state_changes=self.changes,
            ended=end.value if end in CUT else None,
            refusals=refusals,
        )


def _measured(reply: Reply) -> Message:
    """Return the turn's message with what it took: what it says of itself, else what the turn took.

    The turn of an agent that called by itself is several steps, of which no one knows the parts.
    """
    own = reply.message.measures or Measures()
    if reply.before:
        return reply.message
    latency = reply.latency_ms if own.latency_ms is None else own.latency_ms
    took = Measures(latency, own.usage or reply.usage, own.cost)
    return replace(reply.message, measures=took) if took else reply.message
