"""Compare parameters in two runs: the wrong arguments of calls to the right tool, paired by example."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from django.core.cache import cache
from django.db.models import Count, F

from reports.analyses.compared.parameters import Parameter, ParameterDelta, parameter_deltas
from reports.cases.queries import verdict_counts
from reports.comparison.part import every_pair
from reports.run.arguments import WRONG
from toolevals.grading.metrics.comparison import Share
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.models import AlignedPair, ArgumentCount, ArgumentFault, Grading

if TYPE_CHECKING:
    from reports.comparison.runs import TwoRuns

_KEPT: Final = 24 * 3600
_POSITION: Final = "case__transcript__entry__position"
# Of a run: by tool, and by tool and parameter, how many calls each example has, and how many are wrong.
_Calls = Mapping[str, Mapping[int, int]]
_Wrong = Mapping[Parameter, Mapping[int, int]]


def compared_parameters(runs: TwoRuns) -> tuple[ParameterDelta, ...]:
    """Return the change in each parameter that is wrong somewhere in either run. It is kept."""
    if runs.part.conditions:
        return _deltas(runs)
    key = f"reports:compared-parameters:{runs.gradings[0].pk}:{runs.gradings[1].pk}"
    deltas: tuple[ParameterDelta, ...] | None = cache.get(key)
    if deltas is None:
        deltas = _deltas(runs)
        cache.set(key, deltas, timeout=_KEPT)
    return deltas


def parameter_places(runs: TwoRuns, parameter: Parameter, how: str) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return the places of examples in which a parameter is right more often (`fixed`), less (`broken`), or either.

    `left_out` are those that call the tool rightly in one of the runs only.
    """
    places = []
    if all(map(_knows, runs.gradings)):
        sides = _sides(runs)
        pairs = every_pair(runs, runs.paired.pairs)
        places = [pairs[place] for place, shares in _shares(sides, parameter) if _is(how, *shares)]
    return len(places), iter(places)


def _is(how: str, before: Share, after: Share) -> bool:
    if not (before[1] and after[1]):
        return how == "left_out"
    change = after[0] * before[1] - before[0] * after[1]
    return change > 0 if how == "fixed" else change < 0 if how == "broken" else bool(change) and not how


def _deltas(runs: TwoRuns) -> tuple[ParameterDelta, ...]:
    if not all(map(_knows, runs.gradings)):
        return ()
    sides = _sides(runs)
    wrong = sorted({parameter for _, faults in sides for parameter in faults})
    return parameter_deltas({each: Counter(shares for _, shares in _shares(sides, each)) for each in wrong})


def _knows(grading: Grading) -> bool:
    """Return whether a grading counted wrong arguments by parameter: those from before do not know them."""
    failed = verdict_counts(grading).get("arguments", {}).get("failed", 0)
    return not failed or ArgumentCount.objects.filter(grading=grading).exists()


def _shares(sides: list[tuple[_Calls, _Wrong]], parameter: Parameter) -> Iterator[tuple[int, tuple[Share, Share]]]:
    """Yield the place of each example that calls the tool rightly in either run, and (right, calls) in both."""
    calls = [side.get(parameter[0], {}) for side, _ in sides]
    wrong = [faults.get(parameter, {}) for _, faults in sides]
    for place in sorted(calls[0].keys() | calls[1].keys()):
        before, after = (
            (of_side.get(place, 0) - faults.get(place, 0), of_side.get(place, 0))
            for of_side, faults in zip(calls, wrong, strict=True)
        )
        yield place, (before, after)


def _sides(runs: TwoRuns) -> list[tuple[_Calls, _Wrong]]:
    pairs = every_pair(runs, runs.paired.pairs)
    sides: list[tuple[_Calls, _Wrong]] = []
    for side, (grading, run) in enumerate(zip(runs.gradings, (runs.before, runs.after), strict=True)):
        places = {run.positions[pair[side]]: place for place, pair in enumerate(pairs)}
        calls: defaultdict[str, dict[int, int]] = defaultdict(dict)
        wrong: defaultdict[Parameter, dict[int, int]] = defaultdict(dict)
        right = AlignedPair.objects.filter(grading=grading, expected=F("actual")).exclude(expected=NONE).order_by()
        for position, tool, count in right.values_list(_POSITION, "expected").annotate(count=Count("pk")):
            if (place := places.get(position)) is not None:
                calls[tool][place] = count
        faults = ArgumentFault.objects.filter(grading=grading, kind__in=WRONG).order_by()
        counted = faults.values_list(_POSITION, "tool", "argument").annotate(count=Count("pk"))
        for position, tool, argument, count in counted:
            if (place := places.get(position)) is not None:
                wrong[tool, argument][place] = count
        sides.append((calls, wrong))
    return sides
