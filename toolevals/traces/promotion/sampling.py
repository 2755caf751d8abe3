"""Draws traces by strata, in turns, so that what is rare is drawn too, and finds turns that ask nearly the same."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any, Final, Generic, TypeVar
from uuid import UUID
from zlib import crc32

from labeling.lint.inputs import ALIKE, FEWEST_WORDS, MOST_IN_A_PROBE, PROBES, conversation_text
from labeling.lint.texts import SKETCH, resemblance, sketch, words_in
from toolevals.grading.reading.examples import first_words
from toolevals.grading.values.canonical import digest
from toolevals.json_types import JsonMapping
from toolevals.traces.models import SpanVerdict, ToolUse, Trace
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Project, Role

# The newest traces of a filter from which is drawn.
DRAWN_FROM = 100_000
NO_CALL = ("(none)", "")
_READ_AT_ONCE = 500
# Requests of one cluster share so much of their words. A word that opens more clusters than this says nothing.
CLUSTERED = 0.4
_PROBES, _MOST_IN_A_PROBE = 8, 20

Strata = Mapping[Any, Sequence[UUID]]


def traces_draw(
    project: Project, trace_filter: TraceFilter, count: int, seed: int, strata: Sequence[str] = ("calls",)
) -> list[UUID]:
    """Return ids of so many traces, or of all where there are fewer: the same for the same seed and traces.

    Each kind of strata gives a trace in turn, its strata one after the other, the rarest first.
    """
    newest = trace_filter.traces(project, Role.VIEWER).filter(examples=None).order_by("-pk")[:DRAWN_FROM]
    traces = sorted(newest.values_list("pk", flat=True))
    chance = Random(seed)  # noqa: S311 - a sample that can be drawn again
    kinds = [_in_turns(STRATA[name][1](traces), chance) for name in dict.fromkeys(strata or ("calls",))]
    drawn: dict[UUID, None] = {}
    while kinds and len(drawn) < count:
        kinds = [each for each in kinds if _take(each, drawn, count)]
    return sorted(drawn)


def _take(traces: Iterator[UUID], drawn: dict[UUID, None], count: int) -> bool:
    """Add the next trace that is not drawn yet; return whether there was one."""
    if len(drawn) >= count:
        return False
    found = next((each for each in traces if each not in drawn), None)
    if found is not None:
        drawn[found] = None
    return found is not None


def _in_turns(strata: Strata, chance: Random) -> Iterator[UUID]:
    """Yield the traces, one of each stratum after the other, the smallest stratum first."""
    piles = [sorted(pile) for _, pile in sorted(strata.items(), key=lambda each: (len(each[1]), repr(each[0])))]
    for pile in piles:
        chance.shuffle(pile)
    return chain.from_iterable(
        [pile[place] for pile in piles if place < len(pile)] for place in range(max(map(len, piles), default=0))
    )


def _by_calls(traces: Sequence[UUID]) -> Strata:
    """Return the traces by their rarest call: its tool and its class of error."""
    calls: dict[UUID, set[tuple[str, str]]] = {pk: set() for pk in traces}
    for some in _in_parts(traces):
        rows = ToolUse.objects.filter(trace__in=some)
        for pk, tool, error in rows.values_list("trace", "tool", "error_class"):
            calls[pk].add((tool, error))
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    for made in calls.values():
        for each in made or {NO_CALL}:
            sizes[each] += 1
    strata: dict[tuple[str, str], list[UUID]] = defaultdict(list)
    for pk, made in calls.items():
        strata[min(made or {NO_CALL}, key=lambda each: (sizes[each], each))].append(pk)
    return strata


def _by_rules(traces: Sequence[UUID]) -> Strata:
    """Return the traces by the online rules that failed and those that passed in them: where they disagree, apart."""
    said: dict[UUID, set[tuple[str, str]]] = {pk: set() for pk in traces}
    for some in _in_parts(traces):
        rows = SpanVerdict.objects.filter(trace__in=some, status__in=("passed", "failed"))
        for pk, rule, status in rows.values_list("trace", "rule", "status"):
            said[pk].add((status, rule))
    strata: dict[tuple[bool, tuple[str, ...]], list[UUID]] = defaultdict(list)
    for pk, verdicts in said.items():
        failed = tuple(sorted(rule for status, rule in verdicts if status == "failed"))
        strata[any(status == "passed" for status, _ in verdicts), failed].append(pk)
    return strata


def _by_requests(traces: Sequence[UUID]) -> Strata:
    """Return the traces by clusters of what was asked first: each is in the first whose opening request it is like."""
    asked: dict[UUID, str] = {}
    for some in _in_parts(traces):
        asked |= dict(Trace.objects.filter(pk__in=some).values_list("pk", "request"))
    clusters = _Clusters()
    strata: dict[int, list[UUID]] = defaultdict(list)
    for pk in traces:
        strata[clusters.of(asked.get(pk, ""))].append(pk)
    return strata


class _Clusters:
    """Texts that share much of their words, put together in one pass. Words with digits are left aside."""

    def __init__(self) -> None:
        self._openings: list[array[int]] = []
        self._probes: dict[int, list[int]] = defaultdict(list)

    def of(self, text: str) -> int:
        """Return the number of a text's cluster, from 0; a new one where it is like none."""
        words = {word for word in words_in(text) if word.isalpha()}
        # Texts without words are one cluster.
        seen = array("I", sorted(crc32(word.encode()) for word in words or {""})[:SKETCH])
        places = {place for value in seen[:_PROBES] for place in self._probes.get(value, ())}
        for place in sorted(places):
            if resemblance(seen, self._openings[place]) >= CLUSTERED:
                return place
        place = len(self._openings)
        self._openings.append(seen)
        for value in seen[:_PROBES]:
            if len(probe := self._probes[value]) < _MOST_IN_A_PROBE:
                probe.append(place)
        return place


STRATA: Final[Mapping[str, tuple[str, Callable[[Sequence[UUID]], Strata]]]] = {
    "calls": ("tools and classes of errors", _by_calls),
    "rules": ("failed and conflicting online rules", _by_rules),
    "requests": ("clusters of requests that share words", _by_requests),
}
"""The kinds of strata by name: each in words, and how traces are put into them."""


def _in_parts(traces: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for at in range(0, len(traces), _READ_AT_ONCE):
        yield traces[at : at + _READ_AT_ONCE]


Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Likeness:
    """Tells whether two turns ask the same. `exact` is equal where they do so in other spacing or case.

    `apart` are the names of tools and the words with digits in the request: order 7 is not order 8.
    """

    exact: str
    apart: tuple[tuple[str, ...], tuple[str, ...]]
    whole: array[int]
    request: array[int]
    is_short: bool


def likeness_of(shown: JsonMapping, tools: Iterable[str]) -> Likeness:
    """Return the likeness of an example's input. The system's words are left aside where they only resemble."""
    messages = shown.get("messages")
    said = [each for each in (messages if isinstance(messages, list) else ()) if isinstance(each, dict)]
    words = words_in(conversation_text(shown))
    last = next((each for each in reversed(said) if each.get("role") == "user"), {})
    asked = words_in(conversation_text({"messages": [last]}))
    names = tuple(sorted(tools))
    numbers = tuple(sorted({word for word in asked if any(each.isdigit() for each in word)}))
    return Likeness(
        digest([*([str(each.get("role")), _plain(each)] for each in said), list(names)]),
        (names, numbers),
        sketch(words),
        sketch(asked),
        is_short=len(words) < FEWEST_WORDS,
    )


class LikeTurns(Generic[Key]):
    """Turns so far, each under a key of its own, by their likeness."""

    def __init__(self) -> None:
        self._exact: dict[str, Key] = {}
        self._kept: list[tuple[Likeness, Key]] = []
        self._probes: dict[int, list[int]] = defaultdict(list)

    def find(self, turn: Likeness) -> Key | None:
        """Return the key of the first turn that asks nearly the same; None where none does."""
        if (found := self._exact.get(turn.exact)) is not None:
            return found
        if turn.is_short:
            return None
        places = {place for value in turn.whole[:PROBES] for place in self._probes.get(value, ())}
        for place in sorted(places):
            other, key = self._kept[place]
            if other.apart == turn.apart and _are_alike(other, turn):
                return key
        return None

    def add(self, turn: Likeness, key: Key) -> None:
        """Keep a turn that is like none before it."""
        self._exact.setdefault(turn.exact, key)
        place = len(self._kept)
        self._kept.append((turn, key))
        for value in turn.whole[:PROBES]:
            if len(probe := self._probes[value]) < MOST_IN_A_PROBE:
                probe.append(place)


def _are_alike(one: Likeness, other: Likeness) -> bool:
    return resemblance(one.request, other.request) >= ALIKE and resemblance(one.whole, other.whole) >= ALIKE


def _plain(message: JsonMapping) -> str:
    words = first_words({"messages": [{**message, "role": "user"}]}) or ""
    return " ".join(words.split()).casefold()
