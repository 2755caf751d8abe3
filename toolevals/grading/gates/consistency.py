"""Tell whether an agent does the same thing right every time: pass^k over several trials of each example."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from toolevals.grading.gates.case_table import CaseTable, Scores
from toolevals.grading.gates.checks import check_figure
from toolevals.grading.gates.conditions import Condition
from toolevals.grading.gates.metrics import Figure
from toolevals.grading.gates.results import Check, with_examples
from toolevals.grading.gates.rules import ConsistencyRule, UnscoredPolicy
from toolevals.grading.metrics.reliability import tallied_pass_hat_k, tallied_pass_hat_value


def check_consistency(rule: ConsistencyRule, cases: CaseTable | None, *, asked: bool) -> Check:
    """Return the check of pass^k over the cases of a consistency slice, skipped where it is not asked for.

    Unanswered without a slice (None), and where an example has fewer than k trials. A trial that no one has scored
    could have passed or failed.
    """
    name, bound = f"{rule.metric} pass^{rule.k} (consistency slice)", f">= {rule.minimum:g}"
    if not asked:
        return _open(rule, name, bound, "It is for release candidates.", skipped=True)
    if cases is None:
        return _open(rule, name, bound, "There is no consistency slice: run one on this dataset with this agent.")
    outcomes = cases.tally.outcomes(rule.metric, marks=True)
    if short := sum(count for scores, count in outcomes.items() if len(scores) < rule.k):
        reason = f"{short:,} of {outcomes.total():,} examples have fewer than {rule.k} trials: run more of them."
        return _open(rule, name, bound, reason)
    condition = Condition(f"pass^{rule.k}", ">=", rule.minimum)
    figure = _figure(outcomes, rule.k)
    check = check_figure(name, figure, condition.holds, condition.words, UnscoredPolicy(), decide_by=rule.decide_by)
    wavers = [kind.asks(rule.metric) and kind.mark(rule.metric) != 1 for kind in cases.kinds]
    wavering = cases.named([("",) if each else () for each in wavers]).get("", ())
    return with_examples(replace(check, metric=rule.metric), wavering)


def _figure(outcomes: Counter[Scores], k: int) -> Figure:
    """Return pass^k as it is, and with every open trial failed and passed."""
    as_is, failed, passed = (Counter[tuple[int, int]]() for _ in range(3))
    for scores, count in outcomes.items():
        right, still = scores.count(1), scores.count(None)
        as_is[len(scores) - still, right] += count
        failed[len(scores), right] += count
        passed[len(scores), right + still] += count
    observed = tallied_pass_hat_k(as_is, k)
    low, high = (tallied_pass_hat_value(each, k) for each in (failed, passed))
    return Figure(
        observed.value,
        0.0 if low is None else low,
        1.0 if high is None else high,
        observed.count,
        outcomes.total() - observed.count,
        observed.interval,
    )


def _open(rule: ConsistencyRule, name: str, bound: str, reason: str, *, skipped: bool = False) -> Check:
    return Check(name, "skipped" if skipped else "unanswered", None, 0, None, bound, reason, rule.metric)
