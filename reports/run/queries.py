"""Read what the overview of a run shows besides verdicts: how its file was read, errors, label noise, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reports.cases.queries import grading_sums, listed_cases
from reports.filters.case_filters import CaseFilter, Filters
from reports.filters.matrix_cells import matrix_counts
from reports.filters.sums import counted_number
from reports.run.analysis import WARNING, VerdictCounts, VerdictSums
from reports.run.arguments import ArgumentRow, argument_rows
from reports.run.findings import Findings, findings_of
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.verdicts import FailureTag
from toolevals.runs.aggregates.cube import View
from toolevals.runs.aggregates.label_noise import run_noise
from toolevals.runs.aggregates.sums import kept_sums
from toolevals.runs.models import ArgumentCount, CaseGrade, FindingCount, Grading, Run
from toolevals.workspace.models import User


@dataclass(frozen=True, slots=True)
class ReadRow:
    """One format, one kind of loss, or one warning (`kind`).

    `where` is a pointer with `*` for every place in a list, `first` that of the first loss; `line` is a warning's.
    """

    kind: str
    name: str
    count: int
    where: str = ""
    first: str = ""
    line: int | None = None
    words: str = ""


def read_rows(readings: Readings | None) -> Iterator[ReadRow]:
    """Yield the formats, then the losses, then the warnings; nothing where no file was read."""
    if readings is None:
        return
    for found in readings.formats:
        yield ReadRow("format", found.name, found.count, words=found.why)
    for loss in readings.losses:
        words = "" if loss.known else "not of this format"
        yield ReadRow("left out", loss.what, loss.count, loss.where, loss.first, words=words)
    for each in readings.warnings:
        yield ReadRow("warning", "", 1, each["pointer"], line=each["line"], words=each["message"])


def run_readings(run: Run) -> Readings | None:
    """Return the formats and losses of a run's file, or the losses of the answers; None where none are known."""
    if run.job is None:
        return None
    return Readings.of_report(run.job.report) or None


# A grading of which more is errored says so first.
NOTABLE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Errored:
    """The errored cases of a grading.

    `askable` counts those that are worth another try. `reason` is that of the first, where they are `notable`.
    """

    count: int = 0
    total: int = 0
    askable: int = 0
    reason: str = ""

    @property
    def share(self) -> float:
        """Return which part of all cases they are."""
        return self.count / self.total if self.total else 0.0

    @property
    def notable(self) -> bool:
        """Return whether the grading is to say so first."""
        return self.share > NOTABLE_SHARE


def errored_in(grading: Grading, counts: Mapping[str, Mapping[str, int]]) -> Errored:
    """Return the errored cases of a grading, with its counts of verdicts by column."""
    outcomes, tags = counts.get("outcome", {}), counts.get("tag", {})
    askable = tags.get(FailureTag.HARNESS_ERROR, 0)
    if grading.run.agent.connector in CONNECTORS:
        askable += tags.get(FailureTag.ADAPTER_ERROR, 0)
    errored = Errored(outcomes.get("errored", 0), sum(outcomes.values()), askable)
    if not errored.notable:
        return errored
    first = CaseGrade.objects.filter(grading=grading, outcome="errored").order_by("pk").values_list("detail").first()
    reason = first[0]["verdicts"]["outcome"]["reason"] if first else ""
    return Errored(errored.count, errored.total, errored.askable, reason)


def grading_noise(grading: Grading, *, actor: User | None = None, begin: bool = False) -> LabelNoise:
    """Return the label noise of the gold that a grading used. `begin` lets a job count a large dataset's labels."""
    return run_noise(grading.run, grading.dataset_version, actor=actor, begin=begin)


def noisier(gradings: tuple[Grading, Grading]) -> LabelNoise:
    """Return the label noise of the gold of two gradings: of two versions the larger, or what is unknown."""
    first, second = map(grading_noise, gradings)
    if first.high is None or second.high is None:
        return first if first.high is None else second
    return first if first.high >= second.high else second


def grading_findings(grading: Grading, verdicts: VerdictCounts, sums: VerdictSums | None = None) -> Findings:
    """Return what was found in a grading's cases."""
    sums = grading_sums(grading) if sums is None else sums
    counts = FindingCount.objects.filter(grading=grading).order_by()
    parts = kept_sums(grading, "findings") if sums else {}
    return findings_of(counts.values_list("family", "kind", "tool", "cases", "count"), verdicts, sums, parts)


def warnings_of(grading: Grading, verdicts: VerdictCounts) -> dict[str, int]:
    """Return the number of passed cases that a layer which only warns failed, by layer; layers without any left out."""
    warnings = {}
    for layer in WARNING:
        if verdicts.get(layer, {}).get("failed"):
            case_filter = CaseFilter(warned=layer)
            counted = counted_number(grading, case_filter)
            warnings[layer] = listed_cases(grading, case_filter).count() if counted is None else counted
    return {layer: count for layer, count in warnings.items() if count}


def grading_arguments(grading: Grading, tool: str = "") -> tuple[ArgumentRow, ...]:
    """Return the parameters that are wrong somewhere in a grading, of one tool if it is named."""
    counts = ArgumentCount.objects.filter(grading=grading, **({"tool": tool} if tool else {}))
    rows = counts.values_list("tool", "argument", "kind", "count")
    sums = kept_sums(grading, "arguments")
    return argument_rows(rows, matrix_counts(grading, Filters(View.ALIGNED)), sums)
