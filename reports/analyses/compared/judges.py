"""Work out what changed in the verdicts of judges, on the examples that both runs hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reports.analyses.compared.layers import ALPHA
from reports.judges.analysis import JudgeRow
from toolevals.grading.metrics.comparison import Comparison, Share, compare_counted, compare_runs, holm

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
        return f"{then[0]} by v{then[1]} of the rubric, then {now[0]} by v{now[1]}: the change may be the judge’s"


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
