"""Work out what changed in each parameter of each tool, on the examples that both runs hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Count, F

from reports.cases.queries import verdict_counts
from reports.compare.layers import ALPHA
from reports.compare.queries import TwoRuns
from reports.run.findings import ALL_TOGETHER, WRONG
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import Comparison, Share, compare_counted, holm
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.models import AlignedPair, ArgumentCount, ArgumentFault, Grading

# A tool and one of its parameters.
Parameter = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ParameterDelta:
    """The share of calls to the right tool whose parameter is right, in both runs, paired by example.

    `p_holm` is adjusted over all parameters that are wrong somewhere in either run.
    """

    tool: str
    argument: str
    compared: Comparison
    p_holm: float | None = None

    @property
    def name(self) -> str:
        """Return what the parameter is called, as in the table of wrong arguments."""
        return self.argument or ALL_TOGETHER

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction, in examples enough to tell."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.compared.examples >= FEWEST_EXAMPLES

    @property
    def has_moved(self) -> bool:
        """Return whether any example is better or worse in it."""
        return self.compared.improved + self.compared.worsened > 0

    @property
    def moved(self) -> str:
        """Return "regressed" or "improved" where the change stands, else nothing."""
        if not self.stands or not self.compared.difference:
            return ""
        return "regressed" if self.compared.difference < 0 else "improved"


def parameter_deltas(counts: Mapping[Parameter, Mapping[tuple[Share, Share], int]]) -> tuple[ParameterDelta, ...]:
    """Return a row for each parameter, what regressed first, then by how many examples moved.

    `counts` are, by tool and parameter, (right calls, calls) of an example before and after -> how many are like it.
    """
    rows = [ParameterDelta(tool, argument, compare_counted(each)) for (tool, argument), each in counts.items()]
    known = [row for row in rows if row.compared.examples]
    adjusted = holm([row.compared.p_value for row in known])
    found = [replace(row, p_holm=p_value) for row, p_value in zip(known, adjusted, strict=True)]
    return tuple(sorted(found, key=_order))


def parameters_sentence(rows: tuple[ParameterDelta, ...]) -> str:
    """Return which parameters regressed and improved, in a sentence; only where the change stands."""
    parts = []
    for moved in ("regressed", "improved"):
        named = [f"{row.name} of {row.tool}" for row in rows if row.moved == moved]
        if named:
            more = f" and {len(named) - 3:,} more" if len(named) > 3 else ""
            parts.append(f"{', '.join(named[:3])}{more} {moved}.")
    if rows and not any(row.has_moved for row in rows):
        return "No parameter moved."
    return " ".join(parts) or "No parameter’s change stands after the correction."


def _order(row: ParameterDelta) -> tuple[bool, bool, int, str, str]:
    each = row.compared
    return row.moved != "regressed", not row.moved, -each.worsened - each.improved, row.tool, row.argument


_POSITION: Final = "case__transcript__entry__position"
# Of a run: by tool, and by tool and parameter, how many calls each example has, and how many are wrong.
_Calls = Mapping[str, Mapping[int, int]]
_Wrong = Mapping[Parameter, Mapping[int, int]]


def compared_parameters(runs: TwoRuns) -> tuple[ParameterDelta, ...]:
    """Return the change in each parameter that is wrong somewhere in either run. It is kept."""
    return runs.kept("parameters", lambda: _deltas(runs))


def parameter_places(runs: TwoRuns, parameter: Parameter, how: str) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return the places of examples in which a parameter is right more often (`fixed`), less (`broken`), or either.

    `left_out` are those that call the tool rightly in one of the runs only.
    """
    places = []
    if all(map(_knows, runs.gradings)):
        sides = _sides(runs)
        places = [runs.pairs[place] for place, shares in _shares(sides, parameter) if _is(how, *shares)]
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
    sides: list[tuple[_Calls, _Wrong]] = []
    for side, grading in enumerate(runs.gradings):
        places = runs.places(side)
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
