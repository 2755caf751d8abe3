"""Draw traces to be labelled: by strata, from which is drawn in turns, so that what is rare is in the sample."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any, Final
from uuid import UUID
from zlib import crc32

from labeling.lint.texts import SKETCH, resemblance, words_in
from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import SpanVerdict, ToolUse, Trace
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
    "rules": ("online rules that failed, and where they disagree", _by_rules),
    "requests": ("clusters of requests that share words", _by_requests),
}
"""The kinds of strata by name: each in words, and how traces are put into them."""


def _in_parts(traces: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for at in range(0, len(traces), _READ_AT_ONCE):
        yield traces[at : at + _READ_AT_ONCE]
