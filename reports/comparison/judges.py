"""Compare verdicts of judges in two runs. Cases that people rate now are left out: they are hidden from everyone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from labeling.models import VersionEntry
from reports.analyses.compared.judges import Judged, JudgeDelta, corrected, judge_delta, share_of
from reports.comparison.part import every_pair, places_at
from reports.judges.analysis import JudgeRow
from reports.judges.queries import judges_of
from toolevals.runs.judging.blindness import hidden_examples
from toolevals.runs.models import Grading, JudgedCase, Run

if TYPE_CHECKING:
    from reports.comparison.runs import TwoRuns

_PASSED = {"passed": True, "failed": False}
_Sides = tuple[Mapping[int, Judged], Mapping[int, Judged]]


def judge_deltas(runs: TwoRuns) -> tuple[JudgeDelta, ...]:
    """Return the change of each rubric that judges of both gradings judged by."""
    baseline = {row.rubric: row for row in judges_of(runs.gradings[0])}
    rows = []
    for seat in shared_judges(runs):
        (before, after), hidden = _judged(runs, seat.rubric)
        rows.append(judge_delta((baseline[seat.rubric], seat), before, after, hidden=hidden))
    return corrected(rows)


def shared_judges(runs: TwoRuns) -> list[JudgeRow]:
    """Return the candidate's judges whose rubric the baseline was judged by, too."""
    rubrics = {seat["rubric"] for seat in runs.gradings[0].judges}
    return sorted((row for row in judges_of(runs.gradings[1]) if row.rubric in rubrics), key=lambda row: row.title)


def judged_places(runs: TwoRuns, rubric: str, how: str) -> tuple[int, Iterator[tuple[int, int]]]:
    """Return the places of examples that a judge passes oftener (`fixed`), more rarely (`broken`), or either way."""
    (before, after), _ = _judged(runs, rubric)
    pairs = every_pair(runs, runs.paired.pairs)
    places = [pairs[place] for place in sorted(before.keys() | after.keys()) if _is(how, before, after, place)]
    return len(places), iter(places)


def _is(how: str, before: Mapping[int, Judged], after: Mapping[int, Judged], place: int) -> bool:
    (passed, scored), (passed_after, scored_after) = (share_of(side.get(place, ())) for side in (before, after))
    if not (scored and scored_after):
        return how == "left_out"
    change = passed_after * scored - passed * scored_after
    return change > 0 if how == "fixed" else change < 0 if how == "broken" else change != 0 and not how


def _judged(runs: TwoRuns, rubric: str) -> tuple[_Sides, int]:
    """Return what the judges said of the compared examples, by their place among these, and how many are hidden."""
    pairs = every_pair(runs, runs.paired.pairs)
    hidden = _hidden(runs.after, rubric)
    known = [{pair[side]: place for place, pair in enumerate(pairs) if pair[1] not in hidden} for side in range(2)]
    before, after = (
        _said(grading, run, rubric, places)
        for grading, run, places in zip(runs.gradings, (runs.before, runs.after), known, strict=True)
    )
    return (before, after), sum(pair[1] in hidden for pair in pairs)


def _said(grading: Grading, run: Run, rubric: str, places: Mapping[int, int]) -> dict[int, Judged]:
    rows = JudgedCase.objects.filter(grading=grading, rubric=rubric).order_by()
    columns = ("case__transcript__entry__position", "status", "value")
    positions = {position: place for place, position in enumerate(run.positions)}
    by_example: defaultdict[int, list[tuple[bool | None, float | None]]] = defaultdict(list)
    for position, status, value in rows.values_list(*columns).iterator():
        if (place := places.get(positions.get(position, -1))) is not None:
            by_example[place].append((_PASSED.get(status), value if status in _PASSED else None))
    return dict(by_example)


def _hidden(run: Run, rubric: str) -> set[int]:
    entries = VersionEntry.objects.filter(version=run.dataset_version_id, revision__in=hidden_examples(rubric))
    return set(places_at(run, entries.values_list("position", flat=True)))
