"""Write the sentence that trends open with: whether the deciding rate got better, by a test."""

from __future__ import annotations

from dataclasses import dataclass

from reports.analyses.compared.layers import DECIDING, LayerDelta
from reports.analyses.trend import RunFacts, Trend
from reports.comparison.runs import MOST_COMPARED, two_runs
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.presentation.numbers import count, percent
from toolevals.runs.models import Run
from toolevals.workspace.models import Project

WAYS = {"better": ("Better", "rose"), "worse": ("Worse", "fell")}


@dataclass(frozen=True, slots=True)
class TrendSentence:
    """The sentence, and the numbers of the two runs that were compared for it, None where none were."""

    words: str
    before: int | None = None
    after: int | None = None


def trend_sentence(trend: Trend, project: Project) -> TrendSentence:
    """Return whether the outcome changed from the first run that is joined to the newest one to that newest one.

    The test is that of the comparison of the two runs. Runs between are drawn and not tested.
    """
    series = next((each for each in trend.series if each.name == DECIDING), None)
    if series is None:
        return TrendSentence("No run has a scored outcome, so there is no trend.")
    first, last = series.newest[0].run, series.newest[-1].run
    if first.number == last.number:
        alone = f"Run {last.number} is comparable with no earlier run, so there is no trend."
        return TrendSentence(alone if len(trend.rows) > 1 else f"Run {last.number} is the only graded run so far.")
    return _compared(first, last, len(series.newest), project)


def _compared(first: RunFacts, last: RunFacts, joined: int, project: Project) -> TrendSentence:
    numbers = first.number, last.number
    pair = two_runs(Run.objects.filter(project=project), *numbers)
    if pair and max(pair.before.size, pair.after.size) > MOST_COMPARED:
        many = f"with more than {count(MOST_COMPARED)} examples their comparison is made on demand"
        return TrendSentence(f"Not tested here: run {first.number} against run {last.number}, {many}.", *numbers)
    if pair is None or pair.refusal:
        return TrendSentence(f"Cannot tell: run {first.number} and run {last.number} cannot be compared.")
    row = next((each for each in pair.comparison.layers if each.name == DECIDING), None)
    return TrendSentence(_words(row, *numbers, joined), *numbers)


def _words(row: LayerDelta | None, first: int, last: int, joined: int) -> str:
    runs = f"over {joined} joined runs"
    if row is None:
        return f"Cannot tell {runs}: run {first} and run {last} have no scored example in common."
    found = row.compared
    rates = f"{percent(found.before)} % of examples passed in run {first}, {percent(found.after)} % in run {last}"
    if not row.tells:
        many = f"{count(found.examples)} shared example{'' if found.examples == 1 else 's'}"
        return f"Cannot tell {runs}: {rates}, and {many} are too few, at least {FEWEST_EXAMPLES} are needed."
    if row.change == "same":
        return f"No change {runs}: every example came out in run {last} as in run {first}."
    if row.change == "unclear":
        return f"Cannot tell whether the outcome changed {runs}: {rates}, which may be chance."
    word, way = WAYS[row.change]
    return (
        f"{word} {runs}, and not by chance: the outcome {way} from {percent(found.before)} % of examples in run "
        f"{first} to {percent(found.after)} % in run {last}."
    )
