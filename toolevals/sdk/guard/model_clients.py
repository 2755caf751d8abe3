"""Puts a guard into the clients of OpenAI and Anthropic: what a model calls is checked before a program sees it.

A request's messages are the conversation: the user's words, calls and results are read from them, and nothing is kept
between requests. A refused result is replaced by a sentence in what is sent. Where an answer holds a refused call, the
model is told so and asked again, in the form in which a tool reports an error; the program gets the answer in which
nothing is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

from toolevals.grading.guard import Decision, PastCall, Request, State
from toolevals.grading.values import canonical
from toolevals.json_types import JsonObject, JsonValue
from toolevals.sdk.guard.refusals import NOT_MADE, RefusedCall, refusal_text

# A model that is refused so often in one answer does not understand; the last refusal is raised.
MOST_ROUNDS = 3


class Asked(NamedTuple):
    """The guard that is asked, and what its requests have in common."""

    ask: Callable[[Request, State], Decision]
    about: Request


class Called(NamedTuple):
    """A call in a message: its id, name and arguments."""

    id: str
    name: str
    arguments: JsonValue


class Answered(NamedTuple):
    """A result in a message, and what puts a text in its place."""

    id: str
    content: JsonValue
    is_error: bool
    withhold: Callable[[str], None]


class GuardedClient:
    """A client of which only what is guarded can be reached."""

    def __init__(self, path: Sequence[str], create: Callable[..., Any], whole: str = "") -> None:
        self._path, self._whole = tuple(path), whole or ".".join(path)
        name = path[0]
        setattr(self, name, create if len(path) == 1 else GuardedClient(path[1:], create, self._whole))

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name!r} is not guarded: a guarded client has {self._whole} alone")


def openai_client(client: Any, asked: Asked) -> GuardedClient:
    """Return an OpenAI client behind a guard."""
    path = ("chat", "completions", "create")
    return GuardedClient(path, _guarded(client.chat.completions.create, asked, _OpenAI()))


def anthropic_client(client: Any, asked: Asked) -> GuardedClient:
    """Return an Anthropic client behind a guard."""
    return GuardedClient(("messages", "create"), _guarded(client.messages.create, asked, _Anthropic()))


Said = str | Called | Answered


class _Form:
    """The form of a provider's messages."""

    def said_in(self, message: JsonObject) -> Iterator[Said]:
        """Yield the user's words, calls and results of a message."""
        raise NotImplementedError

    def answer_of(self, response: JsonObject) -> JsonObject:
        """Return the message of a response."""
        raise NotImplementedError

    def results(self, texts: Sequence[tuple[Called, str]]) -> list[JsonObject]:
        """Return the messages that answer calls with errors."""
        raise NotImplementedError


class _OpenAI(_Form):
    def said_in(self, message: JsonObject) -> Iterator[Said]:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            yield _text_of(content)
        elif role in ("tool", "function"):
            identifier = message.get("tool_call_id") or message.get("name") or ""

            def withhold(text: str) -> None:
                message["content"] = text

            yield Answered(identifier, _result_of(content), False, withhold)
        elif role == "assistant":
            for call in message.get("tool_calls") or ():
                inner = call.get("function") or call.get("custom") or {}
                arguments = inner.get("arguments") if "function" in call else {"input": inner.get("input")}
                yield Called(call.get("id") or "", inner.get("name") or "", _arguments_of(arguments))
            if legacy := message.get("function_call"):
                yield Called(legacy["name"], legacy["name"], _arguments_of(legacy.get("arguments")))

    def answer_of(self, response: JsonObject) -> JsonObject:
        message: JsonObject = response["choices"][0]["message"]
        return message

    def results(self, texts: Sequence[tuple[Called, str]]) -> list[JsonObject]:
        return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in texts]


class _Anthropic(_Form):
    def said_in(self, message: JsonObject) -> Iterator[Said]:
        role, content = message.get("role"), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:

            def withhold(text: str, block: JsonObject = block) -> None:
                block.update(content=text, is_error=True)

            is_error = bool(block.get("is_error"))
            yield Answered(block.get("tool_use_id") or "", _result_of(block.get("content")), is_error, withhold)
        if role == "user" and len(results) < len(blocks):
            yield _text_of(blocks)
        for block in blocks:
            if block.get("type") == "tool_use":
                yield Called(block.get("id") or "", block.get("name") or "", block.get("input"))

    def answer_of(self, response: JsonObject) -> JsonObject:
        return {"role": "assistant", "content": response["content"]}

    def results(self, texts: Sequence[tuple[Called, str]]) -> list[JsonObject]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": True} for call, text in texts
        ]
        return [{"role": "user", "content": blocks}]


@dataclass(slots=True)
class _Talk:
    """The conversation as its messages tell it."""

    asked: Asked
    calls: list[PastCall] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    request_from: int = 0

    def read(self, form: _Form, messages: Sequence[JsonObject]) -> None:
        """Take messages in, and withhold refused results in them."""
        for message in messages:
            for said in form.said_in(message):
                if isinstance(said, Called):
                    self.note(said)
                elif isinstance(said, Answered):
                    self._take_result(said)
                else:
                    self.request_from = len(self.calls)
                    self.texts.append(said)

    def check(self, call: Called) -> Decision:
        """Return the decision on a call; one that passes is there for those after it."""
        decision = self._ask(call.name, call.arguments)
        if decision.allowed:
            self.note(call)
        return decision

    def note(self, call: Called) -> None:
        self.places[call.id] = len(self.calls)
        self.calls.append(PastCall(call.name, call.arguments))

    def _take_result(self, said: Answered) -> None:
        place = self.places.get(said.id)
        call = self.calls[place] if place is not None else PastCall("")
        decision = self._ask(call.name, call.arguments, result=said.content)
        if not decision.allowed:
            said.withhold(refusal_text(call.name, decision, of="result"))
        elif place is not None:
            self.calls[place] = replace(call, result=said.content, is_error=said.is_error)

    def _ask(self, name: str, arguments: JsonValue, **of: JsonValue) -> Decision:
        state = State(tuple(self.calls), self.request_from, tuple(self.texts))
        return self.asked.ask(replace(self.asked.about, name=name, arguments=arguments, **of), state)


Steps = Generator[JsonObject, Any, Any]


def _guarded(create: Callable[..., Any], asked: Asked, form: _Form) -> Callable[..., Any]:
    def guarded(**request: Any) -> Any:
        if request.get("stream") or request.get("n") not in (None, 1):
            raise ValueError("A guarded client takes neither stream nor n: a call is checked when the answer is whole.")
        steps = _steps(request, asked, form)
        return _driven(steps, create, next(steps))

    return guarded


def _driven(steps: Steps, create: Callable[..., Any], sent: JsonObject) -> Any:
    """Send what the steps say until they have an answer. Of an asynchronous client it is a coroutine."""
    while True:
        response = create(**sent)
        if inspect.isawaitable(response):
            return _driven_later(steps, create, response)
        try:
            sent = steps.send(response)
        except StopIteration as stop:
            return stop.value


async def _driven_later(steps: Steps, create: Callable[..., Any], response: Any) -> Any:
    while True:
        answered = await response
        try:
            sent = steps.send(answered)
        except StopIteration as stop:
            return stop.value
        response = create(**sent)


def _steps(request: JsonObject, asked: Asked, form: _Form) -> Steps:
    """Yield what is to be sent, take each response, and return the one in which nothing is refused."""
    model = request.get("model")
    about = asked.about if asked.about.model or not isinstance(model, str) else replace(asked.about, model=model)
    # Copies: what is withheld stays with the program.
    messages = [_plain(message) for message in request.get("messages", ())]
    talk = _Talk(asked._replace(about=about))
    talk.read(form, messages)
    for rounds_left in reversed(range(MOST_ROUNDS)):
        response = yield {**request, "messages": messages}
        answer = form.answer_of(_plain(response))
        calls = [said for said in form.said_in({**answer, "role": "assistant"}) if isinstance(said, Called)]
        # What another refused call of the message takes along is not there for what comes after.
        trial = replace(talk, calls=talk.calls[:], places=dict(talk.places))
        decisions = [trial.check(call) for call in calls]
        refused = [(call, each) for call, each in zip(calls, decisions, strict=True) if not each.allowed]
        if not refused:
            return response
        if not rounds_left:
            call, decision = refused[0]
            raise RefusedCall(call.name, decision)
        texts = [
            (call, NOT_MADE if each.allowed else refusal_text(call.name, each))
            for call, each in zip(calls, decisions, strict=True)
        ]
        messages = [*messages, answer, *form.results(texts)]
    raise AssertionError("unreachable")


def _plain(value: Any) -> Any:
    """Return a message or response as plain values of its own, whether it was a document or a model of the client."""
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json", exclude_none=True)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def _text_of(content: JsonValue) -> str:
    """Return the text of content: the text itself, or that of its parts."""
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in content or () if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _result_of(content: JsonValue) -> JsonValue:
    """Return a result as text where it is only that, and whole where it holds more."""
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return _text_of(content)
    return "" if content is None else content


def _arguments_of(text: JsonValue) -> JsonValue:
    """Return the arguments that a model wrote; the text itself where it is no JSON."""
    if not isinstance(text, str):
        return {} if text is None else text
    try:
        return canonical.parse(text or "{}")
    except ValueError:
        return text
