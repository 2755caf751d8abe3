"""Read what the overview of a run shows besides verdicts: how its file was read, errors, findings, cheaper checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.core.cache import cache

from reports.cases.queries import grading_sums, listed_cases, verdict_counts
from reports.filters.case_filters import CaseFilter, Filters
from reports.filters.matrix_cells import matrix_counts
from reports.filters.sums import counted_number
from reports.rates import ExampleSums, Rate, rate
from reports.run.analysis import WARNING, VerdictCounts, VerdictSums
from reports.run.findings import ArgumentRow, Findings, argument_rows, findings_of
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import FailureTag
from toolevals.runs.aggregates.cube import View
from toolevals.runs.aggregates.label_noise import run_noise
from toolevals.runs.aggregates.packed_cases import LETTERS, packed_cases
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


TRUTH: Final = "execution"
# Checks of the calls alone, the strictest first.
PROXIES: Final = ("equivalence", "arguments", "selection", "shape", "schema")
PASSED, FAILED = "passed", "failed"
# (status of the proxy, status of the truth) of each case of an example
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """One check next to the truth, in the cases that both passed or failed.

    A case is accepted where the check passed it; truly, where the end state is right.
    """

    proxy: str
    truth: str
    true_accepts: int
    false_accepts: int
    false_rejects: int
    true_rejects: int
    # Of several trials an example, under "precision" and "recall".
    sums: Mapping[str, ExampleSums] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The cases that both passed or failed."""
        return self.true_accepts + self.false_accepts + self.false_rejects + self.true_rejects

    @property
    def cells(self) -> tuple[tuple[str, str, int], ...]:
        """The verdict of the check, that of the truth, and the cases: accepts first, true ones first."""
        return (
            (PASSED, PASSED, self.true_accepts),
            (PASSED, FAILED, self.false_accepts),
            (FAILED, PASSED, self.false_rejects),
            (FAILED, FAILED, self.true_rejects),
        )

    @property
    def precision(self) -> Rate:
        """The share of accepted cases whose end state is right."""
        return rate(self.true_accepts, self.true_accepts + self.false_accepts, self.sums.get("precision"))

    @property
    def recall(self) -> Rate:
        """The share of cases with a right end state that are accepted."""
        return rate(self.true_accepts, self.true_accepts + self.false_rejects, self.sums.get("recall"))


def proxy_rows(examples: Mapping[str, Mapping[Pairs, int]], *, several: bool) -> tuple[ProxyRow, ...]:
    """Return a row for each check, by its name, that was graded in any case in which the truth was.

    `examples` are the pairs of verdicts of an example's cases, and how many examples have these; `several` says whether
    any has several cases.
    """
    rows = (_row(name, examples[name], several) for name in PROXIES if name in examples)
    return tuple(row for row in rows if row.total)


def _row(name: str, examples: Mapping[Pairs, int], several: bool) -> ProxyRow:
    counts: Counter[tuple[str, str]] = Counter()
    tallies: dict[str, Counter[tuple[int, int]]] = {"precision": Counter(), "recall": Counter()}
    for pairs, count in examples.items():
        said = Counter(pairs)
        for pair, cases in said.items():
            counts[pair] += cases * count
        right = said[PASSED, PASSED]
        tallies["precision"][right + said[PASSED, FAILED], right] += count
        tallies["recall"][right + said[FAILED, PASSED], right] += count
    cells = counts[PASSED, PASSED], counts[PASSED, FAILED], counts[FAILED, PASSED], counts[FAILED, FAILED]
    sums = {of: ExampleSums.of(each) for of, each in tallies.items()} if several else {}
    return ProxyRow(name, TRUTH, *cells, sums)


_STATUS = {letter: status for status, letter in LETTERS.items()}


def grading_proxies(grading: Grading, counts: VerdictCounts | None = None) -> tuple[ProxyRow, ...]:
    """Return what each check of the calls is worth in a finished grading, which is kept; nothing without end states.

    `counts` are the grading's counted verdicts, where they are loaded.
    """
    truths = (verdict_counts(grading) if counts is None else counts).get(TRUTH, {})
    if not truths.get(PASSED, 0) + truths.get(FAILED, 0):
        return ()
    key = f"reports:proxies:sums:{grading.pk}"
    rows: tuple[ProxyRow, ...] | None = cache.get(key)
    if rows is None:
        rows = proxy_rows(_pairs(grading), several=grading.run.trials > 1)
        cache.set(key, rows, timeout=24 * 3600)
    return rows


def _pairs(grading: Grading) -> dict[str, Counter[Pairs]]:
    packed = packed_cases(grading)
    patterns = packed.outcome_patterns
    places = {name: VERDICT_NAMES.index(name) for name in (*PROXIES, TRUTH)}
    pairs: dict[str, Counter[Pairs]] = {name: Counter() for name in PROXIES}
    for number, count in Counter(patterns.numbers).items():
        letters = [packed.letters_of(trial) for trial in patterns.distinct[number] if trial]
        said = [{name: _STATUS[each[place]] for name, place in places.items()} for each in letters]
        for name in PROXIES:
            pairs[name][tuple((each[name], each[TRUTH]) for each in said)] += count
    return pairs
