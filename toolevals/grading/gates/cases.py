"""Cases as a gate sees them, made of grades; and metrics that are groups of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from toolevals.grading.gates.case_table import CaseTable
from toolevals.grading.gates.values import GateCase
from toolevals.grading.metrics.groups import MetricGroup
from toolevals.grading.tool_names import name_f1
from toolevals.grading.verdicts import NONE, VERDICT_NAMES, CaseGrade, Status

_SCORES: Mapping[Status, float | None] = {"passed": 1.0, "failed": 0.0, "unscored": None, "errored": None}
# Scored wherever the shape is, unless a judge is still to be heard.
_JUDGED_LATER = ("arguments", "equivalence")
# What a judge's metric is called: this and the name of its rubric.
JUDGED = "judged:"


def verdict_scores(statuses: Mapping[str, Status]) -> dict[str, float | None]:
    """Return the scores of the verdicts that arise in a case: 1 passed, 0 failed, None nobody knows.

    A verdict that is unscored because there is nothing for it is left out: no arguments without the right call, no
    recovery where no tool failed. It is None where somebody has still to answer (no prediction, a judge), and where its
    grader broke down.
    """
    return {name: _SCORES[statuses[name]] for name in VERDICT_NAMES if _arises(name, statuses)}


def _arises(name: str, statuses: Mapping[str, Status]) -> bool:
    if statuses[name] != "unscored" or name == "outcome" or not _is_scored(statuses["selection"]):
        return True
    return name in _JUDGED_LATER and _is_scored(statuses["shape"])


def _is_scored(status: Status) -> bool:
    return status in ("passed", "failed")


def case_of_grade(
    example: str,
    grade: CaseGrade,
    *,
    trial: int = 0,
    strata: Mapping[str, str] | None = None,
    runtime_ms: float | None = None,
    due: str = "",
) -> GateCase:
    """Return a graded case with its verdicts, `tool_name_f1`, and what judges said of it (`judged:RUBRIC`).

    A judge's metric does not arise where nothing in a scored case is for it to say.

    `due` is the class that it is counted under where it has no place in the matrix, as without a prediction.
    """
    scores = verdict_scores(grade.statuses)
    if not _is_scored(grade.statuses["selection"]):
        scores["tool_name_f1"] = None
    elif grade.expected:
        scores["tool_name_f1"] = pairs_name_f1((pair.expected, pair.actual) for pair in grade.pairs)
    for name, judged in grade.judged.items():
        if judged.asked or judged.status != "unscored" or not _is_scored(grade.statuses["selection"]):
            scores[f"{JUDGED}{name}"] = _SCORES[judged.status]
    return GateCase(example, scores, trial, grade.expected or due, grade.actual, strata or {}, runtime_ms)


def pairs_name_f1(pairs: Iterable[tuple[str, str]]) -> float:
    """Return `tool_name_f1` from a case's aligned pairs (expected, actual), `(none)` for neither.

    Of several alternatives it is that of the one which fits the calls best.
    """
    expected, called = [], []
    for wanted, made in pairs:
        expected += [wanted] if wanted != NONE else []
        called += [made] if made != NONE else []
    return name_f1(expected, called)


def with_groups(cases: CaseTable, groups: Sequence[MetricGroup]) -> CaseTable:
    """Return the cases with the score of each group beside those of its metrics.

    A metric that does not arise in a case is left out of the group there; where none arises the group does not. Where
    one arises and nobody has scored it, the group is unscored too.
    """
    if not groups:
        return cases
    return cases.merged(lambda kind: replace(kind, scores={**kind.scores, **_group_scores(kind, groups)}))


def _group_scores(case: GateCase, groups: Sequence[MetricGroup]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for group in groups:
        scores = {metric: case.score(metric) for metric in group.metrics if case.asks(metric)}
        if scores:
            found[group.name] = None if None in scores.values() else group.value(scores).value
    return found
