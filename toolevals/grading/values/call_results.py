"""Reads references to results (`ResultOf`) against what was done: results of calls, and values at places in them.

Reads a transcript as what happened, in order: calls answered, texts said, turns ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, TypeAlias

from toolevals.grading.values import Call, CallExpectation, MalformedCall, Message, ToolCall, Transcript
from toolevals.grading.values.canonical import canonical, parse
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.matchers import ResultOf, references_in, with_references
from toolevals.grading.values.problems import NOTHING, InvalidDocument, value_at


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made. `order` counts calls, `place` messages, `batch` messages that made calls."""

    call: Call
    order: int
    place: int
    batch: int

    @property
    def tool(self) -> str:
        """The tool's name, empty where no one can read it."""
        return self.call.name or ""

    @property
    def key(self) -> str:
        """The arguments in one form: see `arguments_key`."""
        return arguments_key(self.call)


def arguments_key(call: Call) -> str:
    """Return a call's arguments in one form: equal arguments have equal keys, whatever they hold."""
    if isinstance(call, MalformedCall):
        return call.text
    try:
        return canonical(call.arguments)
    except (ValueError, RecursionError):
        pass
    try:
        return repr(call.arguments)
    except (ValueError, RecursionError):
        return f"unwritable {id(call.arguments)}"


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's answer, next to its call."""

    made: Made
    message: Message
    place: int


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the agent."""

    text: str
    place: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The user's turn begins, or the transcript ends."""

    place: int


Event: TypeAlias = Made | Answered | Said | TurnEnded


class _Waiting:
    """Calls without an answer so far, by id and in order."""

    def __init__(self) -> None:
        self._in_order: deque[Made] = deque()
        self._by_id: dict[str, list[Made]] = {}
        self._answered: set[int] = set()

    def add(self, made: Made) -> None:
        self._in_order.append(made)
        if isinstance(made.call, ToolCall) and made.call.id is not None:
            self._by_id.setdefault(made.call.id, []).append(made)

    def take(self, call_id: str | None) -> Made | None:
        """Return the call that an answer belongs to: the newest of that id, without an id the oldest waiting."""
        if call_id is not None and (named := self._by_id.get(call_id)):
            made = named.pop()
            self._answered.add(made.order)
            return made
        while self._in_order:
            made = self._in_order.popleft()
            if made.order in self._answered:
                continue
            has_id = isinstance(made.call, ToolCall) and made.call.id is not None
            if call_id is not None and has_id:
                # Another call's answer: an answer to no one opens no episode.
                self._in_order.appendleft(made)
                return None
            self._answered.add(made.order)
            return made
        return None


def events_of(transcript: Transcript) -> Iterator[Event]:
    """Yield what happened, in order. An answer that belongs to no call is left out."""
    waiting = _Waiting()
    batch = 0
    last_said: str | None = None
    place = -1
    order = 0
    for place, message in enumerate(transcript.messages):
        if message.role == "tool":
            if (made := waiting.take(message.call_id)) is not None:
                yield Answered(made, message, place)
            continue
        if message.role == "user":
            yield TurnEnded(place)
        if message.role != "assistant":
            continue
        if message.content and message.content.strip():
            last_said = message.content
            yield Said(message.content, place)
        if message.calls:
            batch += 1
        for call in message.calls:
            made = Made(call, order, place, batch)
            order += 1
            waiting.add(made)
            yield made
    if transcript.answer and transcript.answer.strip() and transcript.answer != last_said:
        place += 1
        yield Said(transcript.answer, place)
    yield TurnEnded(place + 1)


NOT_RECORDED = "the result of call {call} is not recorded"
# Ways to put the calls that others refer to, of which the best counts.
_MOST_WAYS = 64
_MOST_LOOKED_AT = 4_096
# A text that is a number is read as one up to this length.
_LONGEST_NUMBER = 400


@dataclass(frozen=True, slots=True)
class CallResult:
    """The answer of a tool to a call, as text; `is_error` where it says that it failed."""

    content: str
    is_error: bool = False


# By the places of calls: what each was answered, None where nothing is recorded.
Results: TypeAlias = Sequence[CallResult | None]


def results_of(transcript: Transcript, places: Sequence[int]) -> Results:
    """Return the results of the calls at these places of a transcript; of several answers to one call the last."""
    answered = {
        event.made.order: CallResult(event.message.content or "", event.message.is_error)
        for event in events_of(transcript)
        if isinstance(event, Answered)
    }
    return [answered.get(place) for place in places]


def referred_to(calls: Sequence[CallExpectation]) -> Iterator[int]:
    """Yield the places (from 0) of the expected calls that these refer to, as often as they do."""
    for call in calls:
        for matcher in call.arguments.values():
            yield from (reference.call - 1 for _, reference in references_in(matcher))


def ways(
    referred: Sequence[int], put: Mapping[int, int], fitting: Iterable[tuple[int, int]]
) -> Iterator[dict[int, int | None]]:
    """Yield the actual calls to put the referred ones to, up to 64 ways: first as they are `put`, then as would do.

    `fitting` are the pairs of an expected and an actual call without a fault.
    """
    others: dict[int, list[int]] = {place: [] for place in referred}
    for expected, actual in sorted(fitting):
        if expected in others and actual != put.get(expected):
            others[expected].append(actual)
    found = product(*([put.get(place), *others[place]] for place in referred))
    distinct = (
        chosen
        for chosen in islice(found, _MOST_LOOKED_AT)
        if len({*chosen} - {None}) == len(chosen) - chosen.count(None)
    )
    for chosen in islice(distinct, _MOST_WAYS):
        yield dict(zip(referred, chosen, strict=True))


def bound(call: CallExpectation, served: Mapping[int, int | None], results: Results) -> CallExpectation:
    """Return the expected call with its references read against the results.

    `served` says of the places that are referred to which actual call each is put to, None where it is put to none.
    A call that refers to nothing is returned itself.
    """
    if not any(True for _ in referred_to([call])):
        return call

    def read(reference: ResultOf) -> ResultOf:
        actual = served.get(reference.call - 1)
        result = results[actual] if actual is not None and actual < len(results) else None
        return _read(reference, result)

    return with_changed(call, read)


def with_changed(call: CallExpectation, change: Callable[[ResultOf], ResultOf]) -> CallExpectation:
    """Return the expected call with each of its references changed."""
    return replace(call, arguments={name: with_references(each, change) for name, each in call.arguments.items()})


def unknown_in(call: CallExpectation, names: Sequence[str]) -> str:
    """Return why the first of these arguments whose value depends on a result cannot be compared, in a clause."""
    for name in names:
        for _, reference in references_in(call.arguments[name]):
            if not reference.values:
                return f"{name} cannot be compared: {reference.unknown or NOT_RECORDED.format(call=reference.call)}"
    return ""


def _read(reference: ResultOf, result: CallResult | None) -> ResultOf:
    if result is None:
        return replace(reference, unknown=NOT_RECORDED.format(call=reference.call))
    if result.is_error:
        return replace(reference, unknown=f"call {reference.call} was answered with an error")
    values = _values(result.content, reference.pointer)
    if not values:
        nothing = f"the result of call {reference.call} has nothing at {reference.pointer}"
        return replace(reference, unknown=nothing)
    return replace(reference, values=values)


def _values(content: str, pointer: str) -> tuple[Any, ...]:
    """Return what stands at a place in a result; a number and the text that writes it are both returned."""
    document = _document(content)
    found = value_at(document, pointer)
    if found is NOTHING and (inside := _text_of_blocks(document)) is not None:
        content = inside
        found = value_at(_document(content), pointer)
    if found is NOTHING:
        return ()
    values = [found, *_otherwise(found)]
    if not pointer and content not in values:
        # The whole result may be repeated as it came.
        values.append(content)
    return tuple(values)


def _document(content: str) -> Any:
    """Return a result as JSON; text that is none is itself."""
    try:
        return load_json(content)
    except InvalidDocument:
        return content


def _text_of_blocks(document: object) -> str | None:
    """Return the text in content blocks of the Model Context Protocol; None of all else."""
    blocks = document.get("content") if isinstance(document, dict) else document
    if not isinstance(blocks, list) or not blocks:
        return None
    texts = [each.get("text") for each in blocks if isinstance(each, dict) and each.get("type") == "text"]
    return texts[0] if len(texts) == len(blocks) == 1 and isinstance(texts[0], str) else None


def _otherwise(value: object) -> Iterator[Any]:
    """Yield a number as text, or a text that writes a number as that number: a schema says which of them is due."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield canonical(value)
    elif isinstance(value, str) and len(value) <= _LONGEST_NUMBER:
        try:
            number = parse(value)
        except ValueError:
            return
        if isinstance(number, int | float) and not isinstance(number, bool):
            yield number
