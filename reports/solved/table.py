"""Write the table of which agents solve which examples, as pages, REST and CSV files share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from reports.filters.case_filters import choice, number, text, verdict_column
from reports.solved.analysis import Show, Solved
from reports.solved.queries import SolvedRuns, solved_matrix, solved_runs
from toolevals.presentation.csv import Cell as CsvCell
from toolevals.presentation.table import Column, Table
from toolevals.workspace.models import Project
from toolevals.workspace.requests import whole_number

EXAMPLES_A_PAGE: Final = 50
# Numbers of runs, separated by commas.
LONGEST_RUNS: Final = 4000
SOLVED: Final = Table(
    "SolvedCell",
    "One agent on one example: its trials that passed and failed, and the run that a cell opens.",
    (
        Column("example_id", UUID),
        Column("external_id"),
        Column("agent_id", UUID),
        *(Column(name) for name in ("agent", "detail", "runs")),
        Column("passed", int),
        Column("failed", int),
        Column("status", ("solved", "unsolved", "unscored", "")),
        Column("run", int, optional=True),
    ),
)
AGENTS: Final = Table(
    "SolvedAgent",
    "One agent: the share of the examples scored for it that it solves, with its 95 % interval.",
    (
        Column("agent_id", UUID),
        Column("agent", str, "name"),
        Column("detail"),
        Column("runs", str, "numbers_said"),
        Column("solved", int, "rate.passed"),
        Column("scored", int, "rate.total"),
        Column("share", float, "rate.value", optional=True),
        Column("share_low", float, "rate.low", optional=True),
        Column("share_high", float, "rate.high", optional=True),
    ),
)


@dataclass(frozen=True, slots=True)
class SolvedFilters:
    """The address's choice: runs of a dataset or an experiment, a verdict, columns, order, page from 1."""

    dataset: str
    experiment: str
    runs: tuple[int, ...]
    layer: str
    by_run: bool
    sort: str
    show: Show
    page: int

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> SolvedFilters:
        """Return what is asked for; what cannot be meant counts as not given."""
        numbers = (whole_number(name.strip()) for name in text(parameters, "runs", LONGEST_RUNS).split(","))
        return cls(
            dataset=text(parameters, "dataset"),
            experiment=text(parameters, "experiment"),
            runs=tuple(run for run in numbers if run is not None),
            layer=verdict_column(parameters, "layer"),
            by_run=parameters.get("by") == "run",
            sort=text(parameters, "sort") or "hardest",
            show=choice(Show, parameters, "show", Show.ALL),
            page=number(parameters, "page") or 1,
        )

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it, the page aside."""
        return {
            "dataset": self.dataset,
            "experiment": self.experiment,
            "runs": ",".join(map(str, self.runs)),
            "layer": "" if self.layer == "outcome" else self.layer,
            "by": "run" if self.by_run else "",
            "sort": "" if self.sort == "hardest" else self.sort,
            "show": "" if self.show is Show.ALL else self.show,
        }


def matrix_of(project: Project, filters: SolvedFilters) -> tuple[SolvedRuns, Solved]:
    """Return the runs that are looked at, and their matrix."""
    runs = solved_runs(project, filters.dataset, filters.runs, filters.experiment)
    return runs, solved_matrix(runs.runs, filters.layer, by_run=filters.by_run)


def solved_rows(matrix: Solved, filters: SolvedFilters, page: int | None = None) -> Iterator[dict[str, CsvCell]]:
    """Yield a row for each example and agent in the order that is asked for, of one page where one is."""
    places = matrix.ordered(filters.show, filters.sort)
    if page is not None:
        places = places[(page - 1) * EXAMPLES_A_PAGE : page * EXAMPLES_A_PAGE]
    for place in places:
        example, name = matrix.examples[place]
        for agent in matrix.agents:
            cell = agent.cell(place)
            own = (str(example), name, str(agent.agent_id), agent.name, agent.detail, agent.numbers_said)
            counts = (cell.passed, cell.failed, cell.status, cell.run)
            yield dict(zip(SOLVED.head, (*own, *counts), strict=True))
