"""Makes cases as a gate sees them, of grades; and metrics that are groups of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from toolevals.grading.engine.case_findings import open_questions
from toolevals.grading.gates.case_table import CaseTable
from toolevals.grading.gates.results import JUDGED, PASS_MARK, PUBLISHED_JUDGES, PUBLISHED_METRICS, Failure, GateCase
from toolevals.grading.layers.tool_names import pairs_name_f1
from toolevals.grading.metrics.groups import MetricGroup
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade, Status, Verdict

_SCORES: Mapping[Status, float | None] = {"passed": 1.0, "failed": 0.0, "unscored": None, "errored": None}
# Scored where the shape is, unless a judge is still to be heard.
_JUDGED_LATER = ("arguments", "equivalence")


def verdict_scores(statuses: Mapping[str, Status]) -> dict[str, float | None]:
    """Return the scores of the verdicts that arise in a case: 1 passed, 0 failed, None no one knows.

    A verdict that is unscored because there is nothing for it is left out: no arguments without the right call, no
    recovery where no tool failed. It is None where someone has still to answer (no prediction, a judge), and where its
    grader broke down. Where a layer's rules leave a question, its statuses do not say: `open_questions` does.
    """
    return {name: _SCORES[statuses[name]] for name in VERDICT_NAMES if _arises(name, statuses)}


def _arises(name: str, statuses: Mapping[str, Status]) -> bool:
    if statuses[name] != "unscored" or name == "outcome" or not _is_scored(statuses["selection"]):
        return True
    return name in _JUDGED_LATER and _is_scored(statuses["shape"])


def _is_scored(status: Status) -> bool:
    return status in ("passed", "failed")


@lru_cache(maxsize=4096)
def _scored(
    statuses: tuple[tuple[str, Status], ...], values: tuple[tuple[str, float | None], ...]
) -> tuple[Mapping[str, float | None], Mapping[str, bool]]:
    """Return the scores of verdicts, and which of them passed. The same few come again and again."""
    status_of, value_of_name = dict(statuses), dict(values)
    scores = verdict_scores(status_of)
    for name in [name for name, score in scores.items() if score == 0]:
        scores[name] = value_of_name[name] or 0.0
    return scores, {name: status_of[name] == "passed" for name, score in scores.items() if score is not None}


def case_of_grade(
    example: str,
    grade: CaseGrade,
    *,
    trial: int = 0,
    strata: Mapping[str, str] | None = None,
    runtime_ms: float | None = None,
    cost: float | None = None,
    tokens: float | None = None,
    due: str = "",
    metrics: Mapping[str, Verdict] | None = None,
) -> GateCase:
    """Return a graded case with its verdicts, its `metrics`, `tool_name_f1`, and what judges said (`judged:RUBRIC`).

    Scores are values, and pass where their verdict does. A judge's metric does not arise where nothing in a scored
    case is for it to say, and another's where it is unscored in one.

    `due` is the class that it is counted under where it has no place in the matrix, as without a prediction.
    """
    known = _scored(tuple(grade.statuses.items()), tuple(grade.values.items()))
    scores, passed = dict(known[0]), dict(known[1])
    for name, verdict in (metrics or {}).items():
        if metric_arises(verdict.status, grade.statuses["selection"]):
            scores[name] = verdict.value
            passed[name] = verdict.status == "passed"
    scores |= dict.fromkeys(open_questions(grade))
    if not _is_scored(grade.statuses["selection"]):
        scores["tool_name_f1"] = None
    elif grade.expected:
        scores["tool_name_f1"] = pairs_name_f1((pair.expected, pair.actual) for pair in grade.pairs)
    for name, judged in grade.judged.items():
        if judged.asked or judged.status != "unscored" or not _is_scored(grade.statuses["selection"]):
            scores[f"{JUDGED}{name}"] = value_of(judged.status, judged.value)
            passed[f"{JUDGED}{name}"] = judged.status == "passed"
    episodes = grade.detail("recovery").get("episodes", ())
    return GateCase(
        example,
        scores,
        trial,
        grade.expected or due,
        grade.actual,
        strata or {},
        runtime_ms,
        passed,
        tuple(Failure(each["tool"], each["error_class"], each["score"]) for each in episodes),
        cost=cost,
        tokens=tokens,
    )


def metric_arises(status: Status, selection: Status) -> bool:
    """Return whether a metric arises in a case: not where it is unscored though the case is scored."""
    return status != "unscored" or not _is_scored(selection)


def value_of(status: Status, value: float | None) -> float | None:
    """Return the score of a judge's verdict: its value where there is one."""
    return _SCORES[status] if _SCORES[status] is None or value is None else value


def published_sources(*runs: CaseTable | None) -> dict[str, str]:
    """Return which metric answers each published name: its judge where every run has heard it, else the rule."""
    kinds = [run.kinds for run in runs if run is not None]

    def is_heard(judge: str) -> bool:
        return bool(kinds) and all(any(judge in kind.scores for kind in each) for each in kinds)

    judges = {name: judge for name, judge in PUBLISHED_JUDGES.items() if is_heard(judge)}
    return {**PUBLISHED_METRICS, **judges}


def with_groups(cases: CaseTable, groups: Sequence[MetricGroup]) -> CaseTable:
    """Return the cases with the score of each group next to those of its metrics.

    A metric that does not arise in a case is left out of the group there; where none arises the group does not. Where
    one arises and no one has scored it, the group is unscored too.
    """
    if not groups:
        return cases
    return cases.merged(lambda kind: _with_groups(kind, groups))


def _with_groups(case: GateCase, groups: Sequence[MetricGroup]) -> GateCase:
    """Return the case with the groups' scores. A group passes where what its metrics passed comes to a pass."""
    scores, passed = dict(case.scores), dict(case.passed)
    for group in groups:
        asked = [metric for metric in group.metrics if case.asks(metric)]
        if not asked:
            continue
        values = {metric: case.score(metric) for metric in asked}
        scores[group.name] = None
        if None not in values.values():
            scores[group.name] = group.value(values).value
            marks = group.value({metric: case.mark(metric) for metric in asked}).value
            passed[group.name] = marks is not None and marks >= PASS_MARK
    return replace(case, scores=scores, passed=passed)
