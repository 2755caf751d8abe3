"""Whether a subject does the same thing right every time: pass^k over several trials of each example."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from toolevals.grading.gates.checks import check_figure
from toolevals.grading.gates.conditions import Condition
from toolevals.grading.gates.figures import Figure
from toolevals.grading.gates.rules import ConsistencyRule, UnscoredPolicy
from toolevals.grading.gates.values import PASS_MARK, Check, GateCase, with_examples
from toolevals.grading.metrics.reliability import mean_pass_hat_k

_Marks = dict[str, list[bool | None]]


def check_consistency(rule: ConsistencyRule, cases: Sequence[GateCase] | None, *, asked: bool) -> Check:
    """Return the check of pass^k over the cases of a consistency slice, skipped where it is not asked for.

    Unanswered without a slice (None), and where an example has fewer than k trials. A trial that nobody has scored
    could have passed or failed.
    """
    name, bound = f"{rule.metric} pass^{rule.k} (consistency slice)", f">= {rule.minimum:g}"
    if not asked:
        return _open(rule, name, bound, "It is for release candidates.", skipped=True)
    if cases is None:
        return _open(rule, name, bound, "There is no consistency slice: run one on this dataset with this subject.")
    marks = _marks(cases, rule.metric)
    if short := sum(len(trials) < rule.k for trials in marks.values()):
        reason = f"{short:,} of {len(marks):,} examples have fewer than {rule.k} trials: run more of them."
        return _open(rule, name, bound, reason)
    condition = Condition(f"pass^{rule.k}", ">=", rule.minimum)
    figure = _figure(marks, rule.k)
    check = check_figure(name, figure, condition.holds, condition.words, UnscoredPolicy(), decide_by=rule.decide_by)
    wavering = [example for example, trials in marks.items() if not all(trials)]
    return with_examples(replace(check, metric=rule.metric), wavering)


def _marks(cases: Sequence[GateCase], metric: str) -> _Marks:
    marks: defaultdict[str, list[bool | None]] = defaultdict(list)
    for case in cases:
        if case.asks(metric):
            score = case.score(metric)
            marks[case.example].append(None if score is None else score >= PASS_MARK)
    return dict(marks)


def _figure(marks: _Marks, k: int) -> Figure:
    observed = mean_pass_hat_k(marks, k)
    ends = [
        mean_pass_hat_k(
            {name: [rest if mark is None else mark for mark in trials] for name, trials in marks.items()}, k
        )
        for rest in (False, True)
    ]
    low, high = (end.value for end in ends)
    whole = len(marks)
    return Figure(
        observed.value,
        0.0 if low is None else low,
        1.0 if high is None else high,
        observed.count,
        whole - observed.count,
        observed.interval,
    )


def _open(rule: ConsistencyRule, name: str, bound: str, reason: str, *, skipped: bool = False) -> Check:
    return Check(name, "skipped" if skipped else "unanswered", None, 0, None, bound, reason, rule.metric)
