"""Draw traces to be labelled: by strata of tool and class of error, so that what is rare is in the sample."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from uuid import UUID

from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import ToolUse
from toolevals.workspace.models import Project, Role

# The newest traces of a filter from which is drawn.
DRAWN_FROM = 100_000
NO_CALL = ("(none)", "")
_READ_AT_ONCE = 500


def traces_draw(project: Project, wanted: TraceFilter, count: int, seed: int) -> list[UUID]:
    """Return ids of so many traces, or of all where there are fewer: the same for the same seed and traces.

    A trace is in the stratum of its rarest call. Strata are drawn from in turns, until the sample is full.
    """
    newest = wanted.traces(project, Role.VIEWER).filter(examples=None).order_by("-pk")[:DRAWN_FROM]
    strata = _strata(list(newest.values_list("pk", flat=True)))
    chance = Random(seed)  # noqa: S311 - a sample that can be drawn again
    piles = [sorted(pile) for _, pile in sorted(strata.items())]
    for pile in piles:
        chance.shuffle(pile)
    drawn: list[UUID] = []
    while len(drawn) < count and (piles := [pile for pile in piles if pile]):
        drawn += [pile.pop() for pile in piles][: count - len(drawn)]
    return sorted(drawn)


def _strata(traces: list[UUID]) -> Mapping[tuple[str, str], list[UUID]]:
    calls: dict[UUID, set[tuple[str, str]]] = {pk: set() for pk in traces}
    for at in range(0, len(traces), _READ_AT_ONCE):
        some = ToolUse.objects.filter(trace__in=traces[at : at + _READ_AT_ONCE])
        for pk, tool, error in some.values_list("trace", "tool", "error_class"):
            calls[pk].add((tool, error))
    sizes: dict[tuple[str, str], int] = {}
    for made in calls.values():
        for each in made or {NO_CALL}:
            sizes[each] = sizes.get(each, 0) + 1
    strata: dict[tuple[str, str], list[UUID]] = {}
    for pk, made in calls.items():
        rarest = min(made or {NO_CALL}, key=lambda each: (sizes[each], each))
        strata.setdefault(rarest, []).append(pk)
    return strata
