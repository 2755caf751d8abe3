"""Read a grading's trials and steps, and what the page of reliability shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet

from labeling.conversation.turns import snippet
from labeling.models import Example, Revision
from reports.filters.case_filters import number, text
from reports.rates import GOALS
from reports.reliability.analysis import (
    Calculation,
    Compounding,
    Reliability,
    calculation,
    compounding_of,
    reliability_of,
)
from toolevals.grading.metrics.rates import Estimate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonObject
from toolevals.presentation import figures
from toolevals.presentation.numbers import percent, span
from toolevals.runs.aggregates.sums import kept_sums
from toolevals.runs.aggregates.trials import GROUPS, trial_tallies, verdict_counts_by_example, verdict_tallies
from toolevals.runs.models import CaseGrade, Grading, StepCount, TrialCount
from toolevals.workspace.clock import database_now

KEYSET_PAGE = 2000
OUTCOME: Final = "outcome"
# Strata of which gradings keep no copy.
OTHER_STRATA: Final = tuple(name for name in Example.STRATA if name not in GROUPS)
STRATA_KEPT: Final = 60


def grading_reliability(
    grading: Grading, trials: int, k: int | None = None, of: str = OUTCOME, stratum: str = ""
) -> Reliability | None:
    """Return the reliability of a finished grading, which is kept; None with one trial.

    `of` is the verdict that a trial passes by. `stratum` is one of OTHER_STRATA, as examples have it now, that they are
    grouped by instead of bucket and difficulty: kept for a while only.
    """
    if trials < 2:
        return None
    key = f"reports:reliability:{grading.pk}:{k or trials}:{of}:{stratum}"
    reliability: Reliability | None = cache.get(key)
    if reliability is None:
        if of == OUTCOME and not stratum:
            groups = trial_tallies(grading)
        else:
            groups = verdict_tallies(grading, of, ("tool", stratum) if stratum else GROUPS)
        whole = groups.pop("", {}).get("", Counter())
        reliability = reliability_of(whole, groups, trials=trials, k=k)
        reliability = replace(reliability, counted_at=database_now()) if stratum else reliability
        cache.set(key, reliability, timeout=STRATA_KEPT if stratum else 24 * 3600)
    return reliability


def grading_compounding(grading: Grading) -> Compounding | None:
    """Return how errors compound over the steps of a grading's cases; None where no case has several."""
    rows = StepCount.objects.of_grading(grading)
    counted = list(rows.values_list("expected", "right", "made", "outcome", "count"))
    return compounding_of(counted, kept_sums(grading, "steps")) if counted else None


def trial_counts(grading: Grading, how: str = "", tool: str = "") -> QuerySet[TrialCount]:
    """Return the counted examples of a grading that came out in one way, in the order of the dataset version."""
    counts = TrialCount.objects.filter(grading=grading).coming_out(how)
    return (counts.filter(tool=tool) if tool else counts).order_by("pk")


def verdict_trial_counts(
    grading: Grading, of: str, how: str = "", tool: str = "", after: int | None = None
) -> Iterator[TrialCount]:
    """Yield the examples of a grading that came out in one way by a verdict, with its counts instead of the outcome's.

    In the order of the dataset version, with what they are called, read a page at a time; those after a row's id.
    """
    counts = verdict_counts_by_example(grading, of)
    rows = trial_counts(grading, "", tool).select_related("entry__revision__example").defer("entry__revision__input")
    while page := list((rows.filter(pk__gt=after) if after else rows)[:KEYSET_PAGE]):
        for row in page:
            row.passed, row.failed, row.unscored, row.errored = counts(row.entry.position)
            if not how or came_out(row) == how:
                yield row
        after = page[-1].pk


def came_out(row: TrialCount) -> str:
    """Return how the scored trials of an example came out: a key of TRIALS_CAME_OUT."""
    if not row.passed + row.failed:
        return "unscored"
    return "sometimes" if row.passed and row.failed else "always" if row.passed else "never"


def trial_page(grading: Grading, of: str, how: str, tool: str, *, after: int | None, size: int) -> list[TrialCount]:
    """Return the next `size` + 1 examples that the address asks for, with what they are called."""
    if of != OUTCOME:
        counts = list(islice(verdict_trial_counts(grading, of, how, tool, after), size + 1))
        shown = Revision.objects.in_bulk([row.entry.revision_id for row in counts])
        for row in counts:
            row.entry.revision.input = shown[row.entry.revision_id].input
        return counts
    rows = trial_counts(grading, how, tool)
    rows = rows.filter(pk__gt=after) if after else rows
    return list(rows.select_related("entry__revision__example")[: size + 1])


def trials_of(grading: Grading, entries: Sequence[UUID], of: str = OUTCOME) -> dict[UUID, list[tuple[int, UUID, str]]]:
    """Return (trial, case, status of a verdict) of each example, trial by trial."""
    cases = CaseGrade.objects.filter(
        grading=grading, transcript__run=grading.run_id, transcript__entry__in=list(entries)
    )
    trials: dict[UUID, list[tuple[int, UUID, str]]] = {}
    rows = cases.order_by("transcript__trial").values_list("transcript__entry", "transcript__trial", "pk", of)
    for entry, trial, case, status in rows:
        trials.setdefault(entry, []).append((trial, case, status))
    return trials


def trial_rows(rows: QuerySet[TrialCount], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield `columns` of the counted examples, a page at a time, so that memory does not grow with them."""
    last = 0
    while True:
        page = list(rows.filter(pk__gt=last).values_list("pk", *columns)[:KEYSET_PAGE])
        for row in page:
            yield row[1:]
        if len(page) < KEYSET_PAGE:
            return
        last = page[-1][0]


EXAMPLES_A_PAGE = 30
MOST_STEPS = 1000
# What the calculator begins with where nothing was measured.
STEPS, SUCCESS = 8, 0.95
CAME_OUT = ("always", "sometimes", "never", "unscored")


@dataclass(frozen=True, slots=True)
class TrialState:
    """The address's choice: the k of groups, by which verdict a trial passes, the stratum, which examples."""

    k: int | None = None
    how: str = ""
    tool: str = ""
    after: int | None = None
    of: str = OUTCOME
    stratum: str = ""

    def parameters(self) -> dict[str, str | int]:
        """Return what the address says of it, the place in the list aside."""
        of = "" if self.of == OUTCOME else self.of
        return {"k": self.k or "", "how": self.how, "tool": self.tool, "of": of, "stratum": self.stratum}


@dataclass(frozen=True, slots=True)
class Pip:
    """One trial in a strip, counted from 1."""

    trial: int
    case: UUID
    status: str


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One example and its trials."""

    id: int
    external_id: str
    snippet: str
    count: TrialCount
    pips: tuple[Pip, ...]

    @property
    def scored(self) -> int:
        return self.count.passed + self.count.failed


@dataclass(frozen=True, slots=True)
class ExamplePage:
    """A page of examples; `more` is where the next one begins, None at the end."""

    rows: tuple[ExampleRow, ...]
    more: int | None


def read_trial_state(parameters: Mapping[str, str]) -> TrialState:
    """Return the state that the address asks for; what cannot be counts as not asked."""
    how, of, stratum = (text(parameters, name) for name in ("how", "of", "stratum"))
    return TrialState(
        k=number(parameters, "k"),
        how=how if how in CAME_OUT else "",
        tool=text(parameters, "tool"),
        after=number(parameters, "after"),
        of=of if of in VERDICT_NAMES else OUTCOME,
        stratum=stratum if stratum in OTHER_STRATA else "",
    )


def example_page(grading: Grading, state: TrialState) -> ExamplePage:
    """Return the examples that the address asks for, each with its trials. Two queries."""
    counts = trial_page(grading, state.of, state.how, state.tool, after=state.after, size=EXAMPLES_A_PAGE)
    shown = counts[:EXAMPLES_A_PAGE]
    trials = trials_of(grading, [count.entry_id for count in shown], state.of)
    rows = tuple(_row(count, trials.get(count.entry_id, [])) for count in shown)
    return ExamplePage(rows, shown[-1].pk if len(counts) > EXAMPLES_A_PAGE else None)


def reliability_chart(reliability: Reliability) -> JsonObject:
    """Return the chart of pass@k and pass^k."""
    at = figures.Curve("pass@k", "layer-selection", [_point("pass@", each.k, each.at) for each in reliability.curve])
    hat = figures.Curve("pass^k", "ink", [_point("pass^", each.k, each.hat) for each in reliability.curve])
    return figures.curves([at, hat], xs=[each.k for each in reliability.curve])


def reliability_sentence(reliability: Reliability) -> str:
    """Return what the trials say, as one sentence."""
    one, chosen = reliability.one, reliability.chosen
    if one is None or one.hat.value is None:
        return "No trial was scored."
    once = f"{percent(one.hat.value)} % of trials pass"
    if chosen is None or chosen.hat.value is None or chosen.k < 2:
        return f"{once}; no example has {reliability.k} scored trials."
    return f"{once}; all {chosen.k} trials of an example pass in {percent(chosen.hat.value)} % of examples."


def calculator(parameters: Mapping[str, str], compounding: Compounding | None, step: float | None) -> Calculation:
    """Return the calculator's sum: of the address, or else of what was measured (`step`: the rate of one call)."""
    measured = compounding.step.value if compounding else step
    longest = max((row.steps for row in compounding.chains), default=0) if compounding else 0
    return calculation(
        _share(parameters, "success", SUCCESS if measured is None else measured),
        min(max(number(parameters, "steps") or longest or STEPS, 1), MOST_STEPS),
        _share(parameters, "goal", GOALS["outcome"]),
    )


def _share(parameters: Mapping[str, str], name: str, default: float) -> float:
    """Read a percentage as a share; what is none of 0 to 100 counts as not given."""
    try:
        value = float(parameters.get(name, ""))
    except ValueError:
        return default
    return value / 100 if isfinite(value) and 0 <= value <= 100 else default


def _row(count: TrialCount, trials: list[tuple[int, UUID, str]]) -> ExampleRow:
    revision = count.entry.revision
    pips = tuple(Pip(trial + 1, case, status) for trial, case, status in trials)
    return ExampleRow(count.pk, revision.example.external_id, snippet(revision.input), count, pips)


def _point(name: str, k: int, estimate: Estimate) -> figures.CurvePoint:
    value = estimate.value or 0.0
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (value, value)
    hover = [f"{name}{k}: {percent(value)} % ({span(low, high)})", f"over {estimate.count:,} examples"]
    return figures.CurvePoint(k, 100 * value, 100 * low, 100 * high, hover)
