"""Bounds error recovery by what failed: each failure counts under its tool and the class of its error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolevals.grading.gates.case_table import CaseTable
from toolevals.grading.gates.checks import check_figure
from toolevals.grading.gates.metrics import figure_of
from toolevals.grading.gates.results import NOT_KNOWN, Check, Failure, GateCase, scope_words, softened, with_examples
from toolevals.grading.gates.rules import Bound, PerFailure, UnscoredPolicy

_METRIC = "recovery"
_RIGHT = 1.0
_NOT_ASKED = "No tool failed so in this run: not asked."
_WORDS: Mapping[PerFailure, str] = {"tool": "failed tool", "error_class": "error class", "failure": "failure of"}


def check_failures(bound: Bound, cases: CaseTable, policy: UnscoredPolicy) -> Iterator[Check]:
    """Yield the check of each group of failures, by name.

    A group that `overrides` names and that no failure belongs to is skipped, as there is nothing to recover from; where
    no tool failed at all, so is the bound. Cases that no one has scored are a group of their own.
    """
    per = bound.per_failure or "failure"
    groups: dict[str, list[GateCase]] = {}
    for kind, example in _asked(cases, bound):
        for failure in kind.failures:
            known = {} if failure.score is None else {_METRIC: failure.score == _RIGHT}
            one = GateCase(example, {_METRIC: failure.score}, passed=known)
            groups.setdefault(_name(failure, per), []).append(one)
        if not kind.failures:
            groups.setdefault(NOT_KNOWN, []).append(GateCase(example, {_METRIC: None}))
    for group in sorted({*groups, *bound.overrides}) or [""]:
        condition = bound.overrides.get(group, bound.condition)
        name = f"{bound.metric} {condition.subject}{scope_words(bound.where, group, _WORDS[per])}"
        if group not in groups:
            yield Check(name, "skipped", None, 0, None, condition.words, _NOT_ASKED, bound.metric)
            continue
        table = CaseTable.of(groups[group])
        figure = figure_of(bound.statistic, table.tally, _METRIC)
        check = check_figure(name, figure, condition.holds, condition.words, policy, decide_by=bound.decide_by)
        note = "Failures are read from the rule recovery." if bound.metric != _METRIC else ""
        wrong = (each.example for each in groups[group] if each.mark(_METRIC) != 1)
        yield softened(with_examples(replace(check, metric=bound.metric, note=note), wrong), bound.on_fail)


def _asked(cases: CaseTable, bound: Bound) -> Iterator[tuple[GateCase, str]]:
    """Yield each case in which a tool failed, or no one knows whether one did, and its example."""
    holds = [
        bool(kind.failures or (kind.asks(_METRIC) and kind.score(_METRIC) is None))
        and bound.where.items() <= kind.strata.items()
        for kind in cases.kinds
    ]
    if any(holds):
        for example, number in zip(cases.examples, cases.numbers, strict=True):
            if holds[number]:
                yield cases.kinds[number], cases.names[example]


def _name(failure: Failure, per: PerFailure) -> str:
    if per == "failure":
        return f"{failure.tool} {failure.error_class}"
    return failure.tool if per == "tool" else failure.error_class
