"""Asks judges behind the chat-completions protocol: temperature 0, structured answers, one repair, then errored.

A judge's own answer is the last JSON object that it did not quote.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolevals.agents.chat_options import ChatOptions
from toolevals.agents.chats import Chat, Reply, UnreachableError
from toolevals.agents.judge_prompts import messages_for, repair_for
from toolevals.agents.pinning import is_pinned
from toolevals.grading.json_schema.strict_mode import strict_problems
from toolevals.grading.judging import Judgement, JudgementRequest, Rubric
from toolevals.grading.values import Message
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

_LONGEST_ANSWER = 200_000
# Braces that begin no object are passed over, but not without end: each costs a look at what follows.
_MOST_BROKEN = 200
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s+")
# Marks that open a quotation, and the one that closes each.
_QUOTES = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb", "\u201e": "\u201c"}
# Answers of endpoints that do not know structured output, or not this schema.
_NOT_TAKEN = frozenset({400, 404, 415, 422, 501})


def answer_in(text: str, inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the last JSON object that a judge states itself: alone, in a fence, or amid prose. Raises InvalidDocument.

    An object in quotation marks, in a quoted line (`> ...`), or word for word in the judge's `inputs` is a quotation of
    what it judges, unless it is all that the judge said.
    """
    if len(text) > _LONGEST_ANSWER:
        raise InvalidDocument.at("", f"longer than {_LONGEST_ANSWER:,} characters")
    if text.lstrip().startswith("{") and (whole := _object_alone(text)) is not None:
        return whole
    given = _squeezed("\n".join(_texts(inputs)))
    objects = list(_objects(text))
    own = [(begin, end) for begin, end in objects if not _is_quoted(text, begin, end, given)]
    if own:
        begin, end = own[-1]
        return _read(text[begin:end])
    if objects:
        raise InvalidDocument.at("", "the only JSON object is a quotation of what is judged")
    begin, end = text.find("{"), text.rfind("}")
    return _read(text[begin : end + 1] if 0 <= begin < end else text.strip())


def _object_alone(text: str) -> dict[str, Any] | None:
    """Return the value of a text that is one JSON object and nothing else, None for any other text."""
    try:
        found = load_json(text.strip())
    except InvalidDocument:
        return None
    return found if isinstance(found, dict) else None


def _read(text: str) -> dict[str, Any]:
    found = load_json(text)
    if not isinstance(found, dict):
        raise InvalidDocument.at("", "not a JSON object")
    return found


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each JSON object that stands in no other one."""
    begin, broken = text.find("{"), 0
    while begin >= 0 and broken < _MOST_BROKEN:
        try:
            _, end = _DECODER.raw_decode(text, begin)
            yield begin, end
        except (ValueError, RecursionError):
            broken += 1
            end = begin + 1
        begin = text.find("{", end)


def _is_quoted(text: str, begin: int, end: int, given: str) -> bool:
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    before, after = text[:begin].rstrip(" \t"), text[end:].lstrip(" \t")
    marked = bool(before and after) and _QUOTES.get(before[-1]) == after[0] and not before.endswith("```")
    return marked or line.lstrip().startswith(">") or _squeezed(text[begin:end]) in given


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, however deep, and the value of each object as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield json.dumps(value, ensure_ascii=False, default=str)
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


@dataclass(frozen=True, slots=True)
class Heard:
    """A judgement, what it took, and the snapshot that the endpoint says has answered.

    `usage` counts tokens over all requests. `was_reached` says that it is no failure of network or endpoint: else the
    judgement is errored.
    """

    judgement: Judgement
    usage: Mapping[str, float] = field(default_factory=dict)
    answered_by: str = ""
    latency_ms: float = 0.0
    was_reached: bool = True


def judge_options(options: ChatOptions, rubric: Rubric, *, structured: bool) -> ChatOptions:
    """Return how a judge is asked by a rubric: at temperature 0, without tools, with the answer's schema if wanted."""
    extra = {name: value for name, value in options.extra.items() if name != "response_format"}
    if structured:
        schema = dict(rubric.answer_schema)
        extra["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": rubric.name, "schema": schema, "strict": not strict_problems(schema, "openai")},
        }
    return replace(options, temperature=0.0, system="", tools="native", stream=False, extra=extra)


class Judge:
    """One model that judges by one rubric. Safe in several threads where its chats are."""

    def __init__(self, model: str, *, structured: Chat, plain: Chat) -> None:
        """Take the chat that asks for structured answers, and the one for endpoints that do not know these."""
        self._model = model
        self._pinned = is_pinned(model)
        self._structured = structured
        self._plain = plain

    def hear(self, request: JudgementRequest) -> Heard:
        """Return the judge's answer to a request. Never raises what the endpoint does: that is errored."""
        asked, was_reached = _Asked(self._structured, self._plain), True
        try:
            judgement = self._judgement(request, asked)
        except UnreachableError as error:
            judgement, was_reached = self.errored(request, f"The judge could not be reached: {error}"), False
        return Heard(judgement, dict(asked.usage), asked.answered_by, asked.latency_ms, was_reached)

    def _judgement(self, request: JudgementRequest, asked: _Asked) -> Judgement:
        messages = messages_for(request)
        said = asked.answer(messages)
        try:
            return self._read(request, said)
        except InvalidDocument as error:
            messages += repair_for(said, error.problems)
        said = asked.answer(messages)
        try:
            return self._read(request, said)
        except InvalidDocument as error:
            return self.errored(request, f"The judge gave no answer that fits the rubric, twice: {error.problems[0]}")

    def _read(self, request: JudgementRequest, said: str) -> Judgement:
        return Judgement.of_answer(request, answer_in(said, request.inputs), model=self._model, pinned=self._pinned)

    def errored(self, request: JudgementRequest, error: str) -> Judgement:
        """Return the judgement of a request that came to nothing."""
        return Judgement.errored(request, error, model=self._model, pinned=self._pinned)


@dataclass(slots=True)
class _Asked:
    """The requests of one judgement: once an endpoint has refused structured output, it is asked without."""

    chat: Chat
    plain: Chat
    usage: Counter[str] = field(default_factory=Counter)
    answered_by: str = ""
    latency_ms: float = 0.0

    def answer(self, messages: Sequence[Message]) -> str:
        try:
            reply = self.chat.reply(messages, ())
        except UnreachableError as error:
            if self.chat is self.plain or error.status not in _NOT_TAKEN:
                raise
            self.chat = self.plain
            reply = self.chat.reply(messages, ())
        self._count(reply)
        return reply.message.content or ""

    def _count(self, reply: Reply) -> None:
        self.usage.update(reply.usage)
        self.answered_by = reply.model or self.answered_by
        self.latency_ms += reply.latency_ms or 0.0
