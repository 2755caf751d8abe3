"""Write the tables of a run that can be long: their rows, how many, and the name of their file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404

from reports.cases import table as cases
from reports.cases.queries import cases_for_export, listed_cases
from reports.cases.table import state_cases, state_rows, texts_of_unread, unread_columns
from reports.compare import table as comparison_tables
from reports.compare.moved import moved_page, moved_rows, read_moved_filter
from reports.compare.page import comparable_runs
from reports.compare.queries import TwoRuns, read_part, two_runs
from reports.filters.case_filters import number, read_case_filter
from reports.judges.queries import judged_for_export
from reports.recovery import table as recovery_tables
from reports.recovery.queries import episode_rows, grading_episodes, read_episode_state
from reports.reliability import table as reliability_tables
from reports.reliability.queries import OUTCOME, read_trial_state, trial_counts, trial_rows, verdict_trial_counts
from reports.run.header import graded, run_head
from reports.run.metrics import values_of
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.presentation.csv import Cell, csv_stream
from toolevals.presentation.parquet import missing_package, parquet_stream
from toolevals.runs.models import Grading, JudgedCase, Run, TrialCount
from toolevals.workspace.requests import ProjectRequest, whole_number

# Values of metrics that are read once for the cases that share them.
_KEPT: Final = 1_000
# What is asked for besides the filters of a table.
_BESIDE: Final = ("job", "now")
CSV: Final = "csv"
PARQUET: Final = "parquet"


@dataclass(frozen=True, slots=True)
class LongTable:
    """One kind of table. `rows` yields those that are asked for; `count` says how many, and stops beyond a number."""

    title: str
    columns: Mapping[str, type]
    rows: Callable[[TableRequest], Iterator[Sequence[Cell]]]
    count: Callable[[TableRequest, int | None], int]


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A table of a grading (of two, from the baseline's), with filters as the address of its page has them."""

    name: str
    grading: Grading
    parameters: Mapping[str, str]

    @classmethod
    def of_address(cls, name: str, grading: Grading, parameters: Mapping[str, str]) -> TableRequest:
        """Return what an address asks for."""
        return cls(name, grading, {key: value for key, value in parameters.items() if value and key not in _BESIDE})

    @property
    def table(self) -> LongTable:
        return TABLES[self.name]

    @property
    def columns(self) -> Sequence[str]:
        return tuple(self.table.columns)

    @property
    def refusal(self) -> str:
        """The reason why its file cannot be written in the form that is asked for; empty where it can."""
        if self.parameters.get("form", CSV) not in (CSV, PARQUET):
            return f"The form must be {CSV} or {PARQUET}."
        return missing_package() if self.is_parquet else ""

    @property
    def is_parquet(self) -> bool:
        return self.parameters.get("form") == PARQUET

    @property
    def form(self) -> str:
        """The name of the form of its file."""
        return "Parquet" if self.is_parquet else "CSV"

    @property
    def ending(self) -> str:
        return PARQUET if self.is_parquet else "csv"

    @property
    def file_name(self) -> str:
        """The name of its file, of slugs and numbers."""
        if self.name == COMPARED:
            return f"run-{self.grading.run.number}-to-{self.candidate}-cases.{self.ending}"
        return f"run-{self.grading.run.number}-{self.name}.{self.ending}"

    @property
    def candidate(self) -> int | None:
        """The number of the run that is compared with, where the table is of two."""
        return number(self.parameters, "candidate")

    @property
    def is_long(self) -> bool:
        """Return whether it has more rows than are sent while someone waits. Costs no more than that many."""
        most: int = settings.CSV_ROWS_AT_ONCE
        return self.count(most) > most

    def count(self, most: int | None = None) -> int:
        """Return how many rows it has; of one with more than `most`, some number above."""
        return self.table.count(self, most)

    def rows(self) -> Iterator[Sequence[Cell]]:
        """Yield its rows, some at a time."""
        return self.table.rows(self)

    def parts(self, rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
        """Return its file, in parts, of its rows."""
        return parquet_stream(self.table.columns, rows) if self.is_parquet else csv_stream(self.columns, rows)

    def runs(self) -> TwoRuns | None:
        """Return the two runs of a comparison; None where one is not graded or there is none."""
        run = self.grading.run
        of_project = Run.objects.filter(project=run.project_id)
        return two_runs(of_project, run.number, self.candidate or 0, read_part(self.parameters))


def compared_table(runs: TwoRuns, parameters: Mapping[str, str]) -> TableRequest:
    """Return the table of a list of examples of two runs."""
    filters = {key: value for key, value in parameters.items() if key not in ("start", "candidate")}
    return TableRequest.of_address(COMPARED, runs.gradings[0], {**filters, "candidate": str(runs.after.number)})


def read_table_request(request: ProjectRequest, number: int, name: str) -> TableRequest:
    """Return the table that the address asks for, or raise Http404."""
    if name not in TABLES:
        raise Http404
    if name != COMPARED or request.GET.get("job"):
        return TableRequest.of_address(name, graded(run_head(request, number, "run")), request.GET.dict())
    candidate = whole_number(request.GET.get("candidate", ""))
    if candidate is None:
        raise Http404
    return compared_table(comparable_runs(request, number, candidate), request.GET.dict())


def _counted(rows: QuerySet[Any, Any], most: int | None) -> int:
    return (rows if most is None else rows.order_by()[: most + 1]).count()


def _cases(table_request: TableRequest) -> Iterator[Sequence[Cell]]:
    columns, split = [*cases.CASES.model_paths, "measured", *unread_columns()], len(cases.CASES.head)
    # Cases with the same verdicts have the same text.
    values = lru_cache(_KEPT)(partial(values_of, table_request.grading))
    for row in cases_for_export(table_request.grading, read_case_filter(table_request.parameters), columns):
        yield *row[:split], *values(row[split]), *texts_of_unread(*row[split + 1 :])


def _count_cases(table_request: TableRequest, most: int | None) -> int:
    return _counted(listed_cases(table_request.grading, read_case_filter(table_request.parameters)), most)


def _judged(table_request: TableRequest) -> Iterator[Sequence[Cell]]:
    return judged_for_export(table_request.grading)


def _count_judged(table_request: TableRequest, most: int | None) -> int:
    return _counted(JudgedCase.objects.filter(grading=table_request.grading), most)


def _state(table_request: TableRequest) -> Iterator[Sequence[Cell]]:
    return state_rows(table_request.grading)


def _count_state(table_request: TableRequest, most: int | None) -> int:
    # Cases: how many places of each differ, only its document says.
    return _counted(state_cases(table_request.grading), most)


def _trials(table_request: TableRequest) -> Iterator[Sequence[Cell]]:
    state = read_trial_state(table_request.parameters)
    table = reliability_tables.TRIALS
    if state.of == OUTCOME:
        return trial_rows(_trial_counts(table_request), table.model_paths)
    return table.rows(verdict_trial_counts(table_request.grading, state.of, state.how, state.tool))


def _count_trials(table_request: TableRequest, most: int | None) -> int:
    state = read_trial_state(table_request.parameters)
    if state.of == OUTCOME or not state.how:
        return _counted(_trial_counts(table_request), most)
    rows = verdict_trial_counts(table_request.grading, state.of, state.how, state.tool)
    return sum(1 for _ in islice(rows, None if most is None else most + 1))


def _trial_counts(table_request: TableRequest) -> QuerySet[TrialCount]:
    state = read_trial_state(table_request.parameters)
    return trial_counts(table_request.grading, state.how, state.tool)


def _episodes(table_request: TableRequest) -> Iterator[Sequence[Cell]]:
    state = read_episode_state(table_request.parameters)
    return episode_rows(table_request.grading, state, recovery_tables.EPISODES.model_paths)


def _count_episodes(table_request: TableRequest, most: int | None) -> int:
    return _counted(grading_episodes(table_request.grading, read_episode_state(table_request.parameters)), most)


def _moved(table_request: TableRequest) -> Iterator[Sequence[Cell]]:
    runs = table_request.runs()
    if runs is None:
        return iter(())
    numbers = runs.before.number, runs.after.number
    return comparison_tables.cases(moved_rows(runs, read_moved_filter(table_request.parameters)), numbers)


def _count_moved(table_request: TableRequest, most: int | None) -> int:
    runs = table_request.runs()
    if runs is None:
        return 0
    # A row for each trial of both runs, as long as none is missing.
    return moved_page(runs, read_moved_filter(table_request.parameters), 0, 0).count * (
        runs.before.trials + runs.after.trials
    )


COMPARED: Final = "compare-cases"
_CASE_TYPES: Final = {**cases.CASES.types, **dict.fromkeys(METRICS, float), **cases.TEXTS.types}
TABLES: Final[Mapping[str, LongTable]] = {
    "cases": LongTable("Graded cases", _CASE_TYPES, _cases, _count_cases),
    "judged": LongTable("What judges said of each case", cases.JUDGED.types, _judged, _count_judged),
    "state": LongTable("Differences of state", cases.STATE.types, _state, _count_state),
    "trials": LongTable("Examples, by their trials", reliability_tables.TRIALS.types, _trials, _count_trials),
    "episodes": LongTable("What followed failures", recovery_tables.EPISODES.types, _episodes, _count_episodes),
    COMPARED: LongTable("Examples of two runs", comparison_tables.CASES, _moved, _count_moved),
}
