"""Work out what changed in the verdicts of judges, on the examples that both runs hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from labeling.models import VersionEntry
from reports.compare.layers import ALPHA
from reports.compare.queries import TwoRuns, places_at
from reports.judges.analysis import JudgeRow
from reports.judges.queries import judges_of
from toolevals.grading.metrics.comparison import Comparison, Share, compare_counted, compare_runs, holm
from toolevals.runs.judging.blindness import hidden_examples
from toolevals.runs.models import Grading, JudgedCase, Run

# Of each trial of an example whether it passed, and its value: None where the judge has not scored it.
Judged = Sequence[tuple[bool | None, float | None]]


@dataclass(frozen=True, slots=True)
class JudgeDelta:
    """A rubric in both runs: the share of examples that pass, and the mean of their values, compared in pairs.

    `hidden` examples are left out while people rate them. `p_holm` is adjusted over all judges.
    """

    before: JudgeRow
    after: JudgeRow
    compared: Comparison
    values: Comparison
    hidden: int
    p_holm: float | None = None

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction."""
        return self.p_holm is not None and self.p_holm < ALPHA

    @property
    def caution(self) -> str:
        """Return why a change may be the judge's own; empty where the same judge said both."""
        if self.before.only_unscored != self.after.only_unscored:
            return "one run was judged only where rules leave a question"
        then, now = ((row.model, row.version) for row in (self.before, self.after))
        if then == now:
            return "" if self.after.pinned else "the model’s name has no fixed snapshot"
        return (
            f"{then[0]} by v{then[1]} of the rubric, now {now[0]} with v{now[1]}: the judge changed, not "
            f"necessarily the agent"
        )


def judge_delta(
    rows: tuple[JudgeRow, JudgeRow], before: Mapping[int, Judged], after: Mapping[int, Judged], *, hidden: int
) -> JudgeDelta:
    """Return the change of a judge's verdicts, given by the places of the compared examples."""
    counts: Counter[tuple[Share, Share]] = Counter()
    for place in before.keys() | after.keys():
        counts[share_of(before.get(place, ())), share_of(after.get(place, ()))] += 1
    sides = [{place: [value for _, value in said] for place, said in side.items()} for side in (before, after)]
    return JudgeDelta(*rows, compare_counted(counts), compare_runs(*sides), hidden)


def share_of(judged: Judged) -> Share:
    """Return how many trials passed, and how many the judge has scored."""
    scored = [passed for passed, _ in judged if passed is not None]
    return sum(scored), len(scored)


def corrected(rows: Sequence[JudgeDelta]) -> tuple[JudgeDelta, ...]:
    """Return the rows with their p-values adjusted over all of them."""
    adjusted = holm([row.compared.p_value for row in rows])
    return tuple(replace(row, p_holm=p_value) for row, p_value in zip(rows, adjusted, strict=True))


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
    places = [runs.pairs[place] for place in sorted(before.keys() | after.keys()) if _is(how, before, after, place)]
    return len(places), iter(places)


def _is(how: str, before: Mapping[int, Judged], after: Mapping[int, Judged], place: int) -> bool:
    (passed, scored), (passed_after, scored_after) = (share_of(side.get(place, ())) for side in (before, after))
    if not (scored and scored_after):
        return how == "left_out"
    change = passed_after * scored - passed * scored_after
    return change > 0 if how == "fixed" else change < 0 if how == "broken" else change != 0 and not how


def _judged(runs: TwoRuns, rubric: str) -> tuple[_Sides, int]:
    """Return what the judges said of the compared examples, by their place among these, and how many are hidden."""
    hidden = _hidden(runs.after, rubric)
    shown = [pair[1] not in hidden for pair in runs.pairs]
    before, after = (
        _said(grading, rubric, {position: place for position, place in runs.places(side).items() if shown[place]})
        for side, grading in enumerate(runs.gradings)
    )
    return (before, after), shown.count(False)


def _said(grading: Grading, rubric: str, places: Mapping[int, int]) -> dict[int, Judged]:
    rows = JudgedCase.objects.filter(grading=grading, rubric=rubric).order_by()
    columns = ("case__transcript__entry__position", "status", "value")
    by_example: defaultdict[int, list[tuple[bool | None, float | None]]] = defaultdict(list)
    for position, status, value in rows.values_list(*columns).iterator():
        if (place := places.get(position)) is not None:
            by_example[place].append((_PASSED.get(status), value if status in _PASSED else None))
    return dict(by_example)


def _hidden(run: Run, rubric: str) -> set[int]:
    entries = VersionEntry.objects.filter(version=run.dataset_version_id, revision__in=hidden_examples(rubric))
    return set(places_at(run, entries.values_list("position", flat=True)))
