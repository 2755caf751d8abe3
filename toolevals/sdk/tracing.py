"""Record spans by OpenTelemetry's conventions for generative AI, and never raise into the code that they are about.

Nothing is recorded, and OpenTelemetry not imported, before `instrument()` was called.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from toolevals.json_types import JsonMapping
from toolevals.sdk.writing import LONGEST, arguments_text, json_text, messages_text, result_text

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

logger = logging.getLogger("toolevals.sdk")
# The id of the call that the next tool answers, taken by that tool alone.
_call_ids: ContextVar[list[str] | None] = ContextVar("toolevals_call_ids", default=None)


@dataclass(slots=True)
class Tracing:
    """The target of spans. `content`: whether values and messages are recorded; `longest`: characters of each."""

    tracer: Tracer
    content: bool = True
    longest: int = LONGEST


_tracing: Tracing | None = None
_told: set[str] = set()


def trace_by(tracing: Tracing | None) -> None:
    """Record spans from now on by this; None ends it."""
    global _tracing  # noqa: PLW0603 (one for the process, as OpenTelemetry's provider is)
    _tracing = tracing


def tell_once(about: str, words: str, *values: object) -> None:
    """Log a warning the first time that it is about this."""
    if about not in _told:
        _told.add(about)
        logger.warning(words, *values)


class Recording:
    """One span. Every fault of recording is logged once and then left, and the recording goes on as nothing."""

    __slots__ = ("_span", "_tokens", "_tracing", "is_on")

    def __init__(self, name: str, kind: str, attributes: JsonMapping) -> None:
        self._span: Span | None = None
        self._tokens: list[Any] = []
        self._tracing = tracing = _tracing
        self.is_on = False
        if tracing is None:
            return
        try:
            from opentelemetry.trace import SpanKind

            self._span = tracing.tracer.start_span(
                name, kind=SpanKind.CLIENT if kind == "client" else SpanKind.INTERNAL, attributes=dict(attributes)
            )
            self.is_on = self._span.is_recording()
        except Exception as error:  # noqa: BLE001 - the user's code goes on, whatever went wrong here
            _gave_up(error)

    @property
    def content(self) -> bool:
        """Return whether arguments, results and messages are recorded."""
        return self.is_on and self._tracing is not None and self._tracing.content

    @property
    def longest(self) -> int:
        """Return how many characters of a value are recorded."""
        return self._tracing.longest if self._tracing is not None else LONGEST

    def enter(self) -> None:
        """Make it the span in which others begin."""
        if self._span is None:
            return
        try:
            from opentelemetry.context import attach
            from opentelemetry.trace import set_span_in_context

            self._tokens.append(attach(set_span_in_context(self._span)))
        except Exception as error:  # noqa: BLE001 - as above
            _gave_up(error)

    def leave(self) -> None:
        """Make the span before it the one again."""
        if self._tokens:
            try:
                from opentelemetry.context import detach

                detach(self._tokens.pop())
            except Exception as error:  # noqa: BLE001 - as above
                _gave_up(error)

    def say(self, **attributes: Any) -> None:
        """Set attributes, their names with `_` for dots; None is left out."""
        if self.is_on and self._span is not None:
            try:
                for name, value in attributes.items():
                    if value is not None:
                        self._span.set_attribute(_NAMES[name], value)
            except Exception as error:  # noqa: BLE001 - as above
                _gave_up(error)

    def fail(self, error: BaseException) -> None:
        """Note that what it is about raised this; without content only of which type it is."""
        if not self.is_on or self._span is None:
            return
        try:
            from opentelemetry.trace import Status, StatusCode

            kind = type(error)
            named = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
            self._span.set_attribute("error.type", named)
            self._span.set_status(Status(StatusCode.ERROR, str(error) if self.content else None))
            if self.content:
                self._span.record_exception(error)
        except Exception as problem:  # noqa: BLE001 - as above
            _gave_up(problem)

    def end(self) -> None:
        """End it; further words about it are ignored."""
        if self._span is not None:
            try:
                self._span.end()
            except Exception as error:  # noqa: BLE001 - as above
                _gave_up(error)
            self._span, self.is_on = None, False


_NAMES = {
    "arguments": "gen_ai.tool.call.arguments",
    "call_id": "gen_ai.tool.call.id",
    "conversation": "gen_ai.conversation.id",
    "definitions": "gen_ai.tool.definitions",
    "given": "gen_ai.input.messages",
    "input_tokens": "gen_ai.usage.input_tokens",
    "made": "gen_ai.output.messages",
    "output_tokens": "gen_ai.usage.output_tokens",
    "response_id": "gen_ai.response.id",
    "response_model": "gen_ai.response.model",
    "result": "gen_ai.tool.call.result",
    "user": "user.id",
    "agent_version": "gen_ai.agent.version",
    "provider": "gen_ai.provider.name",
}


def _gave_up(error: Exception) -> None:
    tell_once("recording", "a span could not be recorded, and neither may others: %s: %s", type(error).__name__, error)


def safely_written(write: Any, *values: Any) -> str | None:
    """Return what a function writes; None where it raises, because values may be anything."""
    try:
        made: str = write(*values)
    except Exception as error:  # noqa: BLE001 - as above
        _gave_up(error)
        return None
    return made


def is_tracing() -> bool:
    """Tell whether spans are recorded."""
    return _tracing is not None


def tool_started(name: str, attributes: JsonMapping, arguments: JsonMapping) -> Recording:
    """Begin the span of a tool's execution, with the id of the call that it answers where one was said."""
    recording = Recording(f"execute_tool {name}", "internal", attributes)
    waiting = _call_ids.get()
    identifier = waiting.pop() if waiting else None
    if recording.is_on:
        written = safely_written(arguments_text, arguments, recording.longest) if recording.content else None
        recording.say(call_id=identifier, arguments=written)
    return recording


def tool_answered(recording: Recording, result: object) -> None:
    """End the span of a tool's execution with its result."""
    if recording.content:
        recording.say(result=safely_written(result_text, result, recording.longest))
    recording.end()


def tool_failed(recording: Recording, error: BaseException) -> None:
    """End the span of a tool's execution with what it raised."""
    recording.fail(error)
    recording.end()


class tool_call(AbstractContextManager[None]):  # noqa: N801 (used as a function is)
    """Says which call the next tool answers: the id that the model gave it. Other tools inside take no notice."""

    def __init__(self, call_id: str | None) -> None:
        self._waiting = [call_id] if call_id else []

    def __enter__(self) -> None:
        self._token = _call_ids.set(self._waiting)

    def __exit__(self, *_: object) -> None:
        _call_ids.reset(self._token)


class _Recorded:
    """A block that is one span."""

    _recording: Recording

    def __enter__(self) -> Self:
        self._recording.enter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._recording.leave()
        if error is not None:
            self._recording.fail(error)
        self._recording.end()


class agent_span(_Recorded):  # noqa: N801 (as above)
    """One turn of an agent. `session` is the conversation's id, `user` whose it is, by ids of the application."""

    def __init__(
        self, name: str, *, version: str | None = None, session: str | None = None, user: str | None = None
    ) -> None:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        self._recording = Recording(f"invoke_agent {name}", "internal", attributes)
        self._recording.say(agent_version=version, conversation=session, user=user)


class chat_span(_Recorded):  # noqa: N801 (as above)
    """One call of a model: the messages it is given, as OpenAI's, Anthropic's or OpenTelemetry's, and its tools."""

    def __init__(
        self,
        model: str,
        messages: Iterable[object] = (),
        *,
        tools: Iterable[JsonMapping] = (),
        provider: str | None = None,
        session: str | None = None,
    ) -> None:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
        self._recording = recording = Recording(f"chat {model}", "client", attributes)
        recording.say(provider=provider, conversation=session)
        if recording.content:
            offered = list(tools)
            recording.say(
                given=safely_written(messages_text, messages, recording.longest),
                definitions=safely_written(json_text, offered) if offered else None,
            )

    def answered(
        self,
        *messages: object,
        model: str | None = None,
        response_id: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """Say what the model made: text, or messages as it was given them; and what it took."""
        recording = self._recording
        recording.say(
            response_model=model, response_id=response_id, input_tokens=input_tokens, output_tokens=output_tokens
        )
        if messages and recording.content:
            recording.say(made=safely_written(messages_text, messages, recording.longest))
