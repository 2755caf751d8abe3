"""Tell what the page of a run's reliability shows.

Its address's state, the curves, the strips of trials, the calculator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any
from uuid import UUID

from labeling.conversation.turns import snippet
from reports.analyses.compounding import Calculation, Compounding, calculation
from reports.analyses.rates import GOALS
from reports.analyses.reliability import Reliability
from reports.filters.case_filters import number, text
from reports.queries.trials import OTHER_STRATA, OUTCOME, trial_page, trials_of
from toolevals.grading.metrics.rates import Estimate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation import figures
from toolevals.presentation.numbers import percent, span
from toolevals.runs.models import Grading, TrialCount

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


def reliability_chart(reliability: Reliability) -> dict[str, Any]:
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
    return f"{once}, but all {chosen.k} of an example in {percent(chosen.hat.value)} %."


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
