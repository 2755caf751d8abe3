"""List examples with another result in a second run: of a layer, a tool, a cell of the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final
from uuid import UUID

from labeling.conversation.turns import snippet
from labeling.models import VersionEntry
from reports.analyses.compared.pairing import Places, Verdicts
from reports.analyses.compared.spending import UNITS
from reports.analyses.judges import PREFIX
from reports.comparison.judges import judged_places
from reports.comparison.metrics import metric_places
from reports.comparison.parameters import parameter_places
from reports.comparison.part import read_part
from reports.comparison.runs import OUTSIDE, TwoRuns
from reports.comparison.spending import spending_places
from reports.filters.case_filters import Filters, address_query, is_judged, text
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.models import CaseGrade, Run

# Which of those that moved: of mistakes fewer or more, of a cell in or out.
HOWS: Final = ("fixed", "broken", "left_out", "errored", "entered", "left", "rose", "fell")
WORDS: Final = {
    "": "fixed or broken",
    "cell": "entered or left the cell",
    "spending": "that took more or less",
    "rose": "that took more",
    "fell": "that took less",
    "fixed": "fixed",
    "broken": "broken",
    "left_out": "not scored in one of the runs",
    "errored": "errored in one of the runs",
    "entered": "entered the cell",
    "left": "left the cell",
}
UNKNOWN: Final = "of which one of the runs does not say it"
SPENDING_WAYS: Final = ("", "rose", "fell", "left_out")
ARGUMENT: Final = "argument"
MISTAKES: Final = ("missed", "wrong")
CASES_A_PAGE: Final = 50
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class MovedFilter:
    """The examples to list.

    `of` is a verdict, a judge's (`judged:` and its rubric), a metric, one of UNITS, "missed" or "wrong" with a `tool`,
    ARGUMENT with a `tool` and its `parameter`, "cell" with expected and actual, or a key of OUTSIDE; `how` is one of
    HOWS, or empty for all that moved. `part` are conditions on examples.
    """

    of: str = "outcome"
    how: str = ""
    tool: str = ""
    parameter: str = ""
    expected: str = ""
    actual: str = ""
    part: Filters = field(default_factory=Filters)

    @property
    def rubric(self) -> str:
        """The rubric of a judge's list, else empty."""
        return self.of.removeprefix(PREFIX) if self.of.startswith(PREFIX) else ""

    @property
    def is_outside(self) -> bool:
        return self.of in OUTSIDE

    @property
    def words(self) -> str:
        """Return what the examples have in common, after "12 examples": "fixed"."""
        return OUTSIDE.get(self.of) or self.way(self.how)

    def way(self, how: str) -> str:
        """Return the words for one of `ways`."""
        if not how:
            return WORDS["cell" if self.of == "cell" else "spending" if self.of in UNITS else ""]
        return UNKNOWN if how == "left_out" and self.of in UNITS else WORDS[how]

    @property
    def ways(self) -> tuple[str, ...]:
        """Return what `how` can be for this list."""
        if self.is_outside:
            return ()
        if self.of == "cell":
            return ("", "entered", "left")
        if self.of in UNITS:
            return SPENDING_WAYS
        if self.rubric or self.of in METRICS or self.of == ARGUMENT:
            return ("", "fixed", "broken", "left_out")
        return ("", "fixed", "broken") if self.of in MISTAKES else ("", "fixed", "broken", "left_out", "errored")

    def query(self, **changes: Any) -> str:
        """Return it as the query of an address, with some fields changed."""
        changed = replace(self, **changes)
        names = ("of", "how", "tool", "parameter", "expected", "actual")
        return address_query({name: getattr(changed, name) for name in names} | self.part.conditions)


def read_moved_filter(parameters: Mapping[str, str]) -> MovedFilter:
    """Return what the address asks for; what cannot be counts as not asked."""
    return replace(_read(parameters), part=read_part(parameters))


def _read(parameters: Mapping[str, str]) -> MovedFilter:
    of, how, tool = (text(parameters, name) for name in ("of", "how", "tool"))
    expected, actual = text(parameters, "expected"), text(parameters, "actual")
    if expected and actual:
        way = how if how in ("entered", "left") else ""
        return MovedFilter("cell", way, expected=expected, actual=actual)
    if of in OUTSIDE:
        return MovedFilter(of)
    if of in MISTAKES and tool:
        return MovedFilter(of, how if how in ("fixed", "broken") else "", tool)
    if of == ARGUMENT and tool:
        way = how if how in ("fixed", "broken", "left_out") else ""
        return MovedFilter(of, way, tool, text(parameters, "parameter"))
    if is_judged(of) or of in METRICS:
        return MovedFilter(of, how if how in ("fixed", "broken", "left_out") else "")
    if of in UNITS:
        return MovedFilter(of, how if how in SPENDING_WAYS else "")
    known = of if of in VERDICT_NAMES else "outcome"
    return MovedFilter(known, how if how in ("fixed", "broken", "left_out", "errored") else "")


def moved_places(runs: TwoRuns, wanted: MovedFilter) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return how many examples a list has, and in the order of the baseline their places in both runs."""
    paired = runs.paired
    if wanted.rubric:
        return judged_places(runs, wanted.rubric, wanted.how)
    if wanted.of == ARGUMENT:
        return parameter_places(runs, (wanted.tool, wanted.parameter), wanted.how)
    if wanted.of in UNITS:
        return spending_places(runs, wanted.of, wanted.how)
    if wanted.of in METRICS:
        return metric_places(runs, wanted.of, wanted.how)
    if wanted.of in VERDICT_NAMES:
        count, found = paired.verdicts.holding(_by_verdict(wanted))
    else:
        count, found = paired.places.holding(_by_cell(wanted))
    pairs = paired.pairs
    return count, (((place, place) if pairs is None else pairs[place]) for place in found)


def _by_verdict(wanted: MovedFilter) -> Callable[[Verdicts, Verdicts], bool]:
    column = VERDICT_NAMES.index(wanted.of)

    def holds(before: Verdicts, after: Verdicts) -> bool:
        (passed, scored), (passed_after, scored_after) = before.shares[column], after.shares[column]
        if wanted.how == "errored":
            return bool(before.errored[column] or after.errored[column])
        if not (scored and scored_after):
            return wanted.how == "left_out"
        # The difference of two shares, without dividing.
        return _moves(wanted.how, passed_after * scored - passed * scored_after, ("fixed", "broken"))

    return holds


def _by_cell(wanted: MovedFilter) -> Callable[[Places, Places], bool]:
    def holds(before: Places, after: Places) -> bool:
        if not (before.placed and after.placed):
            return False
        change = _trials_of(wanted, after) * before.placed - _trials_of(wanted, before) * after.placed
        # Fewer mistakes are better, so that they are fixed.
        ways = ("entered", "left") if wanted.of == "cell" else ("broken", "fixed")
        return _moves(wanted.how, change, ways)

    return holds


def _moves(how: str, change: int, ways: tuple[str, str]) -> bool:
    up, down = ways
    return change > 0 if how == up else change < 0 if how == down else change != 0 and not how


def _trials_of(wanted: MovedFilter, side: Places) -> int:
    """Return how many trials of an example stand in the cell, or are the mistake, that is asked for."""
    if wanted.of == "cell":
        return side.cells.get((wanted.expected, wanted.actual), 0)
    own = 0 if wanted.of == "missed" else 1
    return sum(trials for cell, trials in side.cells.items() if cell[own] == wanted.tool and cell[0] != cell[1])


@dataclass(frozen=True, slots=True)
class SideCase:
    """One trial of an example in one run."""

    id: UUID
    trial: int
    expected: str
    actual: str
    outcome: str
    mode: str
    statuses: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MovedRow:
    """An example, and its cases in both runs; a side that does not hold it is empty."""

    revision: UUID
    external_id: str
    snippet: str
    before: tuple[SideCase, ...]
    after: tuple[SideCase, ...]

    @property
    def sides(self) -> tuple[tuple[SideCase, ...], tuple[SideCase, ...]]:
        return self.before, self.after

    @property
    def expected(self) -> str:
        """The first call that is expected; empty where no trial has a place in the matrix."""
        return next((case.expected for side in self.sides for case in side if case.expected), "")

    @property
    def called(self) -> tuple[str, str]:
        """Return what was called first in the first trial of each run."""
        before, after = (side[0].actual if side else "" for side in self.sides)
        return before, after


@dataclass(frozen=True, slots=True)
class MovedPage:
    """A page of a list: `count` examples are in all of it, `more` is where the next page begins, None at the end."""

    rows: tuple[MovedRow, ...]
    count: int
    more: int | None


def moved_page(runs: TwoRuns, wanted: MovedFilter, start: int, size: int = CASES_A_PAGE) -> MovedPage:
    """Return `size` examples of a list from the `start`-th on. A few queries, however long it is."""
    if wanted.is_outside:
        entries = runs.shared.outside[wanted.of]
        rows = _outside_rows(runs, wanted.of, entries[start : start + size])
        return MovedPage(rows, len(entries), start + size if len(entries) > start + size else None)
    count, places = moved_places(runs, wanted)
    rows = _rows(runs, list(islice(places, start, start + size)))
    return MovedPage(rows, count, start + size if count > start + size else None)


def moved_rows(runs: TwoRuns, wanted: MovedFilter) -> Iterator[MovedRow]:
    """Yield all examples of a list, some at a time."""
    if wanted.is_outside:
        entries = iter(runs.shared.outside[wanted.of])
        while some := list(islice(entries, _CHUNK)):
            yield from _outside_rows(runs, wanted.of, some)
        return
    _, places = moved_places(runs, wanted)
    while chunk := list(islice(places, _CHUNK)):
        yield from _rows(runs, chunk)


def _rows(runs: TwoRuns, places: Sequence[tuple[int, int]]) -> tuple[MovedRow, ...]:
    before = _entries_at(runs.before, [place for place, _ in places])
    # Of a run on the same version they are the same entries.
    same = runs.before.dataset_version_id == runs.after.dataset_version_id and runs.before.only == runs.after.only
    after = before if same else _entries_at(runs.after, [place for _, place in places])
    cases = [
        cases_of(runs.gradings[side], [entry.pk for entry in found.values()])
        for side, found in enumerate((before, after))
    ]
    return tuple(
        _row(before[place], cases[0].get(before[place].pk, ()), cases[1].get(after[other].pk, ()))
        for place, other in places
    )


def _outside_rows(runs: TwoRuns, why: str, entries: Sequence[UUID]) -> tuple[MovedRow, ...]:
    found = VersionEntry.objects.filter(pk__in=entries).select_related("revision__example").order_by("position")
    own = runs.gradings[1 if why == "only_after" else 0]
    cases = cases_of(own, list(entries))
    if why == "only_after":
        return tuple(_row(entry, (), cases.get(entry.pk, ())) for entry in found)
    rows = list(found)
    others: dict[UUID, tuple[SideCase, ...]] = {}
    if why == "other_gold":
        twins = VersionEntry.objects.filter(
            version=runs.after.dataset_version_id, revision__in=[row.revision_id for row in rows]
        )
        by_entry = dict(twins.values_list("pk", "revision"))
        others = {by_entry[entry]: found for entry, found in cases_of(runs.gradings[1], list(by_entry)).items()}
    return tuple(_row(entry, cases.get(entry.pk, ()), others.get(entry.revision_id, ())) for entry in rows)


def _row(entry: VersionEntry, before: tuple[SideCase, ...], after: tuple[SideCase, ...]) -> MovedRow:
    revision = entry.revision
    return MovedRow(revision.pk, revision.example.external_id, snippet(revision.input), before, after)


def _entries_at(run: Run, places: Sequence[int]) -> dict[int, VersionEntry]:
    """Return the entry at each of these places in a run."""
    positions = {run.positions[place]: place for place in places}
    entries = VersionEntry.objects.filter(version=run.dataset_version_id, position__in=list(positions))
    return {positions[entry.position]: entry for entry in entries.select_related("revision__example")}


def cases_of(grading: Any, entries: Sequence[UUID]) -> dict[UUID, tuple[SideCase, ...]]:
    """Return the cases of each example in a grading, trial by trial."""
    cases = CaseGrade.objects.filter(grading=grading, transcript__run=grading.run_id, transcript__entry__in=entries)
    names = ("transcript__trial", "expected", "actual", "mode", *VERDICT_NAMES)
    by_entry: dict[UUID, list[SideCase]] = {}
    for entry, case, trial, expected, actual, mode, *statuses in cases.order_by("transcript__trial").values_list(
        "transcript__entry", "pk", *names
    ):
        said = dict(zip(VERDICT_NAMES, statuses, strict=True))
        by_entry.setdefault(entry, []).append(SideCase(case, trial, expected, actual, said["outcome"], mode, said))
    return {entry: tuple(rows) for entry, rows in by_entry.items()}
