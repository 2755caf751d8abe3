"""Tell what a test marked with `toolevals` works with: examples, an agent's predictions of them, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from toolevals.cli.gate import gate_table
from toolevals.cli.gate_config import read_config
from toolevals.cli.gate_files import GATED, gate_cases, graded_file, json_rows
from toolevals.cli.grade_cases import Case, NativeGrading
from toolevals.cli.grade_rows import PREDICTION_KEYS
from toolevals.cli.output import CommandError
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import Evidence, hold_gate
from toolevals.grading.gates.metrics import Figure, figure_of
from toolevals.grading.gates.results import GateResult
from toolevals.grading.gates.rules import Gate
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.presentation.gate_reports import GateReport

# Takes an example's row and gives its prediction: `tool_calls`, `messages`, `text`, `answer`, ...
Agent = Callable[[JsonMapping], JsonMapping]
Threshold = float | Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class MarkerOptions:
    """The content of a marker. Files are read from the test's folder."""

    dataset: str
    threshold: Threshold = None
    baseline: str | None = None
    gate: str | JsonMapping | None = None
    trials: int = 1

    @classmethod
    def of(cls, *args: Any, **options: Any) -> Self:
        """Return the marker's arguments. Raises TypeError and ValueError where they are none."""
        marker = cls(*args, **options)
        if not isinstance(marker.dataset, str | Path):
            raise TypeError("dataset is not a file")
        if isinstance(marker.trials, bool) or not isinstance(marker.trials, int) or marker.trials < 1:
            raise ValueError("trials is not a whole number from 1 on")
        return marker

    def rules(self, folder: Path) -> Gate | None:
        """Return the gate that the threshold and the gate make together, None without either. Raises ValueError."""
        document: JsonObject = {}
        if isinstance(self.gate, Mapping):
            document = dict(self.gate)
        elif self.gate is not None:
            document = dict(_read(folder / self.gate))
        minimums = self.threshold if isinstance(self.threshold, Mapping) else {"outcome": self.threshold}
        bounds: list[JsonObject] = [
            {"metric": metric, "min": least} for metric, least in minimums.items() if least is not None
        ]
        if wrong := [str(bound["min"]) for bound in bounds if not 0 <= float(bound["min"]) <= 1]:
            raise ValueError(f"threshold {wrong[0]} is not a share from 0 to 1")
        if bounds:
            document["bounds"] = [*document.get("bounds", []), *bounds]
        return read_gate(document) if document else None


@dataclass
class Evaluation:
    """The examples of a test, and what an agent makes of them.

    `rows` are the dataset's, as they stand in the file. Where they hold predictions already, these are graded; `ask`
    puts an agent's in their place.
    """

    rows: Sequence[JsonMapping]
    marker_options: MarkerOptions
    gate: Gate | None
    baseline: Path | None = None
    _cases: list[Case] | None = field(default=None, repr=False)
    _grading: NativeGrading = field(default_factory=partial(NativeGrading, metrics=GATED), repr=False)

    @classmethod
    def read(cls, marker_options: MarkerOptions, folder: Path) -> Self:
        """Return the evaluation that a marker in this folder describes. Raises ValueError."""
        try:
            rows = json_rows(str(folder / marker_options.dataset))
        except CommandError as error:
            raise ValueError(str(error)) from error
        return cls(
            rows,
            marker_options,
            marker_options.rules(folder),
            folder / marker_options.baseline if marker_options.baseline else None,
        )

    def ask(self, agent: Agent) -> Self:
        """Ask the agent every example, as often as the marker says, and grade what it does.

        The agent gets the row without what it expects. What it raises is the test's failure.
        """
        self._grading = grading = NativeGrading(metrics=GATED)
        self._cases = [
            grading.read({**_asked_of(row), **_expected(row), **agent(_asked_of(row)), "id": row["id"], "trial": trial})
            for row in self.rows
            for trial in range(self.marker_options.trials)
        ]
        return self

    @property
    def cases(self) -> list[Case]:
        """The graded cases."""
        if self._cases is None:
            self._cases = [self._grading.read(dict(row)) for row in self.rows]
        return self._cases

    def what_was_read(self) -> tuple[str, ...]:
        """Return a line for each format that predictions were read from, and for each kind of what was left out."""
        return tuple(self._grading.readings.words())

    def figure(self, metric: str, statistic: str = "pass_rate") -> Figure:
        """Return a figure of any metric: `observed`, its `count`, its 95 % `interval`, and how many are `unscored`."""
        return figure_of(statistic, gate_cases(self.cases).tally, metric)

    def require(self, metric: str, minimum: float, statistic: str = "pass_rate") -> None:
        """Fail the test unless the figure reaches the minimum. What was not scored never passes."""
        __tracebackhide__ = True
        bound = {"metric": metric, "min": minimum, "statistic": statistic}
        self._fail_unless_passed(self.result(read_gate({"bounds": [bound]})))

    def result(self, gate: Gate) -> GateResult:
        """Return how the cases come out of a gate."""
        before = graded_file(str(self.baseline)).cases if self.baseline else None
        return hold_gate(gate, Evidence(gate_cases(self.cases), before))

    def hold(self) -> None:
        """Fail the test unless the marker's threshold and gate are passed."""
        __tracebackhide__ = True
        if self.gate is not None:
            self._fail_unless_passed(self.result(self.gate))

    def _fail_unless_passed(self, result: GateResult) -> None:
        __tracebackhide__ = True
        if result.status not in ("passed", "warned"):
            report = GateReport(result, str(self.marker_options.dataset), str(self.marker_options.baseline or ""))
            pytest.fail(gate_table(report), pytrace=False)


_HIDDEN = frozenset({"expected_tool", "expected_args", "expectation", "rationale", "strata", *PREDICTION_KEYS})


def _asked_of(row: JsonMapping) -> JsonObject:
    return {key: value for key, value in row.items() if key not in _HIDDEN}


def _expected(row: JsonMapping) -> JsonObject:
    return {key: value for key, value in row.items() if key in _HIDDEN and key not in PREDICTION_KEYS}


def _read(path: Path) -> Any:
    try:
        return read_config(path)
    except CommandError as error:
        raise ValueError(str(error)) from error
