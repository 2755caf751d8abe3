"""Tell what changed from the run before, for a comment on a pull request: of two runs on a server, or of two files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean
from typing import Any, Final
from urllib.parse import urlencode

from toolevals.cli.output import Exit, exit_status_of
from toolevals.client import Project
from toolevals.grading.gates.case_table import CaseTable, Scores
from toolevals.grading.gates.regressions import PairedRuns, units_of
from toolevals.grading.gates.results import GateCase, Measure
from toolevals.grading.gates.rules import RegressionRule
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.comparison import Comparison, compare_alike, holm
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonMapping
from toolevals.presentation.gate_comment import CellChange, LayerChange, RunChanges
from toolevals.server_errors import ServerError

# What an example takes, in words.
TAKEN: Final[Mapping[Measure, str]] = {"cost": "money", "tokens": "tokens", "latency": "ms"}


def comparison_path(before: int, after: int) -> str:
    """Return where a project shows the comparison of two runs."""
    return f"runs/{before}/compare/{after}/"


def changes_of_runs(client: Project, before: int, after: int) -> RunChanges:
    """Return what the server says changed between two runs, each figure with the page of its examples."""
    path = comparison_path(before, after)

    def page(**asked: str) -> str:
        return client.page(f"{path}cases/?{urlencode(asked)}")

    try:
        found = client.request("GET", path)
    except ServerError as error:
        # They are on different datasets, or graded otherwise: the server says which.
        if exit_status_of(error) is not Exit.DATA:
            raise
        return RunChanges(why_not=str(error))
    layers = [_layer_of(row, page(of=row["name"])) for row in found["layers"]]
    cells = [
        CellChange(
            cell["expected"],
            cell["actual"],
            cell["before"],
            cell["after"],
            page(expected=cell["expected"], actual=cell["actual"]),
        )
        for cell in client.request("GET", f"{path}matrix/")["cells"]
    ]
    rows = client.request("GET", f"{path}spending/")
    taken = {row["unit"]: (row["mean"]["before"], row["mean"]["after"]) for row in rows if row["examples"]}
    return RunChanges(layers, cells, taken)


def _layer_of(row: JsonMapping, url: str) -> LayerChange:
    compared = Comparison(
        examples=row["examples"],
        left_out=row["left_out"],
        before=row["before"],
        after=row["after"],
        difference=row["difference"],
        interval=_interval(row["interval"]),
        improved=row["fixed"],
        worsened=row["broken"],
        p_value=row["p_value"],
        test=row["test"],
    )
    return LayerChange(row["name"], compared, _interval(row["after_interval"]), row["p_holm"], url)


def _interval(said: Any) -> Interval | None:
    return Interval(said["low"], said["high"]) if said and said["low"] is not None else None


def changes_of_files(before: CaseTable, after: CaseTable) -> RunChanges:
    """Return what changed between two files, over the examples that both hold."""
    runs = PairedRuns(before, after)
    rule = RegressionRule("paired", VERDICT_NAMES, ignore_removed=True)
    layers = [layer for unit in units_of(rule, runs) if (layer := _layer(unit.metric, unit.counts)).compared.examples]
    others = iter(holm([layer.compared.p_value for layer in layers if not layer.decides]))
    corrected = [layer if layer.decides else replace(layer, p_holm=next(others)) for layer in layers]
    return RunChanges(corrected, list(_cells(runs)), dict(_taken(before, after)))


def _layer(name: str, counts: Mapping[tuple[Scores, Scores], int]) -> LayerChange:
    """Return the change of one verdict, its p-value not adjusted."""
    compared = compare_alike(counts)
    tallies: Counter[tuple[int, int]] = Counter()
    for both, number in counts.items():
        then, now = ([score for score in side if score is not None] for side in both)
        if then and now:
            tallies[len(now), int(sum(now))] += number
    interval = clustered_interval(ExampleSums.of(tallies)) if tallies else None
    return LayerChange(name, compared, interval, compared.p_value)


def _cells(runs: PairedRuns) -> Iterator[CellChange]:
    """Yield the cells of the matrix of first calls; an example counts once, with all of its trials, which are alike."""
    (_, first), (_, second) = runs.before.patterns, runs.after.patterns
    counts: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (was, is_now), number in runs.counts.items():
        sides = _places(runs.before.kinds, first[was]), _places(runs.after.kinds, second[is_now])
        if all(sides):
            for side, places in enumerate(sides):
                for place in places:
                    counts[place][side] += number / len(places)
    for (expected, actual), (then, now) in counts.items():
        yield CellChange(expected, actual, round(then, 6), round(now, 6))


def _places(kinds: Sequence[GateCase], numbers: Sequence[int]) -> list[tuple[str, str]]:
    return [
        (kinds[number].tool, kinds[number].called) for number in numbers if kinds[number].tool and kinds[number].called
    ]


def _taken(before: CaseTable, after: CaseTable) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the means of what examples took, over those of which both files say it."""
    for measure, name in TAKEN.items():
        sides = [_means(table, measure) for table in (before, after)]
        if shared := sides[0].keys() & sides[1].keys():
            first, second = (fmean(side[example] for example in shared) for side in sides)
            yield name, (first, second)


def _means(table: CaseTable, measure: Measure) -> dict[str, float]:
    found: defaultdict[int, list[float]] = defaultdict(list)
    for example, value in zip(table.examples, table.measures.get(measure) or (), strict=False):
        if not isnan(value):
            found[example].append(value)
    return {table.names[example]: fmean(values) for example, values in found.items()}
