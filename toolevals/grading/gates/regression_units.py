"""What a regression rule compares, one unit a check: a metric over all examples, or over those of a tool or stratum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from toolevals.grading.gates.rules import RegressionRule
from toolevals.grading.gates.values import GateCase
from toolevals.grading.metrics.bootstrap import scored_mean

# By example, the scores of its trials.
Outcomes = Mapping[str, Sequence[float | None]]
# Example -> the tool or value of the stratum that it belongs to.
_Groups = Mapping[str, str]


# Not slotted: what is counted is kept. Two units are never asked whether they are equal.
@dataclass(frozen=True, eq=False)
class Unit:
    """A metric before and after; `group` is a tool or a value of a stratum, empty where it is about all examples."""

    metric: str
    group: str
    before: Outcomes
    after: Outcomes

    @cached_property
    def shared(self) -> list[str]:
        """The examples of both runs that were scored before."""
        return [
            example
            for example, trials in self.before.items()
            if example in self.after and scored_mean(trials) is not None
        ]

    @cached_property
    def missing(self) -> list[str]:
        """Those of them that nobody has scored now."""
        return [example for example in self.shared if scored_mean(self.after[example]) is None]

    @cached_property
    def gone(self) -> int:
        """How many examples were scored before and are not asked now."""
        return sum(
            example not in self.after and scored_mean(trials) is not None for example, trials in self.before.items()
        )

    def at_worst(self) -> Unit:
        """Return the unit as if all that is missing had failed."""
        worst = {**self.after, **{example: [0.0] for example in self.missing}}
        return Unit(self.metric, self.group, self.before, worst)


def units_of(rule: RegressionRule, cases: Sequence[GateCase], baseline: Sequence[GateCase]) -> list[Unit]:
    """Return the units of a rule, by metric and then by group.

    An example belongs to the tool that this run's gold expects, or where nobody knows it, the one of the run before;
    likewise to strata. A group is there where both runs hold an example of it, or an override names it.
    """
    groups = _groups(rule, baseline, cases)
    found = []
    for metric in rule.metrics:
        before, after = (_outcomes(each, metric, groups) for each in (baseline, cases))
        if groups is None or not rule.is_grouped:
            found.append(Unit(metric, "", before, after))
            continue
        parts = [_parted(each, groups) for each in (before, after)]
        shared = {groups[example] for example in before if example in after}
        names = sorted(shared | rule.overrides.keys())
        found += [Unit(metric, name, *(part.get(name, {}) for part in parts)) for name in names]
    return found


def _groups(rule: RegressionRule, *runs: Iterable[GateCase]) -> _Groups | None:
    """Return the group of each example that the rule is about, by the last run that knows it; None where it is all."""
    if not (rule.is_grouped or rule.where):
        return None
    found: dict[str, str] = {}
    strata: dict[str, Mapping[str, str]] = {}
    for run in runs:
        for case in run:
            strata[case.example] = case.strata or strata.get(case.example, {})
            if rule.per_tool and case.tool:
                found[case.example] = case.tool
    taken = {name for name, each in strata.items() if rule.where.items() <= each.items()}
    if rule.per_tool:
        return {name: tool for name, tool in found.items() if name in taken}
    if rule.per_stratum:
        return {name: value for name in taken if (value := strata[name].get(rule.per_stratum, ""))}
    return dict.fromkeys(taken, "")


def _outcomes(cases: Iterable[GateCase], metric: str, groups: _Groups | None) -> Outcomes:
    outcomes: defaultdict[str, list[float | None]] = defaultdict(list)
    for case in cases:
        if case.asks(metric) and (groups is None or case.example in groups):
            outcomes[case.example].append(case.score(metric))
    return outcomes


def _parted(outcomes: Outcomes, groups: _Groups) -> Mapping[str, Outcomes]:
    parts: defaultdict[str, dict[str, Sequence[float | None]]] = defaultdict(dict)
    for example, trials in outcomes.items():
        parts[groups[example]][example] = trials
    return parts
