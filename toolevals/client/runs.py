"""Gives runs, their cases, and how gates checked them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolevals.client.rows import Rows
from toolevals.client.work import ProjectConnection
from toolevals.grading.gates.results import GateResult
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonMapping, JsonObject

# So many cases come at once.
_PAGE = "1000"


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of scored cases that passed, with its 95 % interval."""

    passed: int
    total: int
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, shown: JsonMapping) -> Rate:
        """Return what a rate of the REST interface says."""
        interval = shown["interval"]
        return cls(shown["passed"], shown["total"], shown["value"], interval["low"], interval["high"])


@dataclass(frozen=True, slots=True)
class Case:
    """One graded trial of an example. `verdicts` and `metrics` are by name; `row` is all that the server said."""

    id: str
    external_id: str
    trial: int
    expected: str
    actual: str
    verdicts: Mapping[str, str]
    metrics: Mapping[str, float | None]
    row: JsonMapping = field(repr=False)

    @property
    def outcome(self) -> str:
        """Return `passed`, `failed`, `unscored` or `errored`."""
        return self.verdicts["outcome"]

    @classmethod
    def of(cls, row: JsonMapping) -> Case:
        """Return what a row of the graded cases says."""
        whose = row["case_id"], row["external_id"], row["trial"], row["expected"], row["actual"]
        return cls(*whose, {name: row[name] for name in VERDICT_NAMES}, row["metrics"], row)


@dataclass(frozen=True, slots=True)
class CheckedGate:
    """A gate that a run was checked by. `baseline` is the number of the run that it was compared with, if any."""

    id: str
    run: int
    baseline: int | None
    result: GateResult
    page: str

    @property
    def status(self) -> str:
        """Return `passed`, `warned`, `failed` or `unanswered`."""
        return self.result.status


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `rates` are its verdicts' by name, empty until a grading is finished; `row` is all that was said."""

    project: ProjectConnection = field(repr=False)
    number: int
    experiment: str
    agent: str
    dataset: str
    version: int
    trials: int
    grading: int | None
    rates: Mapping[str, Rate]
    row: JsonMapping = field(repr=False)

    @classmethod
    def of(cls, project: ProjectConnection, row: JsonMapping) -> Run:
        """Return what the server says of a run, alone or in a list."""
        version = row["dataset_version"]
        if "shown" in row:
            rates = (row["shown"] or {}).get("rates", {})
        else:
            rates = {"outcome": row["outcome"]} if row.get("outcome") else {}
        return cls(
            project,
            row["number"],
            row["experiment"],
            row["agent"]["name"],
            version["dataset"],
            version["version"],
            row["trials"],
            row["grading"],
            {name: Rate.of(rate) for name, rate in rates.items()},
            row,
        )

    @property
    def page(self) -> str:
        """The address of its page."""
        return self.project.page(f"runs/{self.number}/")

    def renewed(self) -> Run:
        """Return the run as the server has it now."""
        return Run.of(self.project, self.project.request("GET", f"runs/{self.number}/"))

    def graded(self) -> Run:
        """Wait for its first grading where that is at work, and return the run as it is then. Raises ServerError."""
        shown = self.renewed()
        if shown.grading is None and shown.row["job"]:
            self.project.wait({"id": shown.row["job"]})
            return self.renewed()
        return shown

    def cases(self, **filters: str) -> Rows[Case]:
        """Return its graded cases; filters are those of the REST interface, as `expected`, `actual`, `mode`.

        The columns of their data frame are those of `cases.csv`.
        """

        def fetch() -> Iterator[JsonObject]:
            return self.project.pages(f"runs/{self.number}/graded-cases/", limit=_PAGE, **filters)

        return Rows(fetch, Case.of, _columns)

    def case(self, pk: str) -> JsonObject:
        """Return one case in full: the example, its gold, the transcript, each verdict with its reason."""
        found: JsonObject = self.project.request("GET", f"runs/{self.number}/cases/{pk}/")
        return found

    def table(self, name: str = "cases", form: str = "csv", **filters: str) -> Iterator[bytes]:
        """Have one of its long tables written, as `csv` or `parquet`, and yield the file in parts. Raises ServerError.

        The tables are `cases`, `judged`, `state`, `trials`, `episodes`, and with a `candidate`, `compare-cases`.
        """
        path = f"runs/{self.number}/files/{name}/"
        job = self.project.wait(self.project.post_once(path, params={"form": form, **filters}))
        yield from self.project.download(f"files/{job['id']}/")

    def gate(self, gate: JsonMapping | None = None, *, name: str = "", baseline: str = "") -> CheckedGate:
        """Hold it against a gate, wait for the result, and return that. Raises ServerError.

        The gate is a document, or the name of one that the project keeps. `baseline` is another run's number,
        `branch:NAME` or `last-passing`.
        """
        said = {"gate": dict(gate)} if gate is not None else {"name": name}
        return self.checked({**said, "baseline": baseline})

    def checked(self, asked: JsonMapping) -> CheckedGate:
        """Do the same with everything that the REST interface takes."""
        started = self.project.post_once(f"runs/{self.number}/gates/", json=asked)
        self.project.wait(started["job"])
        shown = self.project.request("GET", f"gates/{started['gate']['id']}/")
        result = GateResult.from_document(shown["result"])
        return CheckedGate(
            shown["id"], shown["run"], shown["baseline"], result, self.project.page(f"gates/{shown['id']}/")
        )


def _columns(row: JsonMapping) -> JsonObject:
    """Return the columns of a case, its metrics among them."""
    return {**{name: value for name, value in row.items() if name != "metrics"}, **row["metrics"]}
