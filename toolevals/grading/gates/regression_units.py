"""Tell what a regression rule compares, one unit a check.

A metric over all examples, or over those of a tool or stratum.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from toolevals.grading.gates.case_table import CaseTable, Scores
from toolevals.grading.gates.results import PUBLISHED_METRICS
from toolevals.grading.gates.rules import RegressionRule
from toolevals.grading.metrics.means import scored_mean
from toolevals.grading.values.verdict_table import VERDICT_NAMES

# The patterns of an example in the run before and in this one; 0 where it is not there.
_Pair = tuple[int, int]
_Known = TypeVar("_Known")
# What an example counts as that the run does not hold: one trial without a score.
_REMOVED: Scores = (None,)


# Not slotted: what is counted is kept.
@dataclass(frozen=True, eq=False)
class PairedRuns:
    """Two runs side by side: every example of either, those of the run before first."""

    before: CaseTable
    after: CaseTable

    @cached_property
    def _sides(self) -> tuple[Sequence[str], Sequence[int], Sequence[int]]:
        """The examples, and the pattern of each in the two runs."""
        names, (first, _), (second, _) = self.before.names, self.before.patterns, self.after.patterns
        if names == self.after.names:
            return names, first, second
        places = {name: place for place, name in enumerate(self.after.names)}
        now = [second[place] if (place := places.pop(name, None)) is not None else 0 for name in names]
        new = list(places.values())
        names = [*names, *places]
        return names, [*first, *[0] * len(new)], [*now, *(second[place] for place in new)]

    @cached_property
    def counts(self) -> Counter[_Pair]:
        """Return how many examples have each pair of patterns."""
        _, first, second = self._sides
        return Counter(zip(first, second, strict=True))

    @cached_property
    def _places(self) -> Mapping[_Pair, Sequence[int]]:
        """The places of the examples that have each pair."""
        _, first, second = self._sides
        pairs: defaultdict[_Pair, array[int]] = defaultdict(lambda: array("I"))
        for place, pair in enumerate(zip(first, second, strict=True)):
            pairs[pair].append(place)
        return pairs

    def named(self, pairs: Sequence[_Pair]) -> list[str]:
        """Return the examples that have one of these pairs, in order."""
        names, _, _ = self._sides
        return [names[place] for place in sorted(place for pair in pairs for place in self._places[pair])]


# Not slotted: what is counted is kept.
@dataclass(frozen=True, eq=False)
class Unit:
    """A metric before and after; `group` is a tool or a value of a stratum, empty where it is about all examples.

    `counts` says how many examples have each (scores before, scores now), empty where the metric does not arise.
    """

    metric: str
    group: str
    counts: Mapping[tuple[Scores, Scores], int] = field(default_factory=dict)
    # How many examples were scored before and are not in this run.
    removed: int = 0
    # The examples for which something is true of both scores.
    named: Callable[[Callable[[Scores, Scores], bool]], list[str]] = lambda _: []

    @property
    def shared(self) -> int:
        """Return how many examples of both runs were scored before."""
        return sum(count for both, count in self.counts.items() if _is_shared(*both)) - self.removed

    @cached_property
    def missing(self) -> int:
        """Return how many of them no one has scored now."""
        return sum(count for both, count in self.counts.items() if is_missing(*both))

    @property
    def gone(self) -> int:
        """Return how many examples were scored before and are not asked now."""
        return sum(count for (then, now), count in self.counts.items() if not now and scored_mean(then) is not None)

    def at_worst(self) -> Mapping[tuple[Scores, Scores], int]:
        """Return the counts as if all that is missing had failed."""
        worst: Counter[tuple[Scores, Scores]] = Counter()
        for (then, now), count in self.counts.items():
            worst[then, (0.0,) if is_missing(then, now) else now] += count
        return worst


def is_missing(then: Scores, now: Scores) -> bool:
    """Return whether an example of both runs was scored before and is not now."""
    return _is_shared(then, now) and scored_mean(now) is None


def _is_shared(then: Scores, now: Scores) -> bool:
    return bool(now) and scored_mean(then) is not None


def units_of(rule: RegressionRule, runs: PairedRuns) -> list[Unit]:
    """Return the units of a rule, by metric and then by group.

    An example belongs to the tool that this run's gold expects, or where no one knows it, the one of the run before;
    likewise to strata. A group is there where both runs hold an example of it, or an override names it.
    """
    groups = _groups(rule, runs)
    found = []
    for metric in rule.metrics:
        parts = _parts(rule, metric, runs, groups)
        names = [""]
        if rule.is_grouped:
            shared = {group for group, part in parts.items() if any(then and now for then, now in part)}
            names = sorted(shared | rule.overrides.keys())
        found += [_unit(metric, name, parts.get(name, {}), runs) for name in names]
    return found


# (scores before, scores now) -> the pairs of patterns that come to these.
_Part = Mapping[tuple[Scores, Scores], Sequence[_Pair]]


def _by_passes(rule: RegressionRule, metric: str) -> bool:
    """Return whether a rule compares which cases passed, and not their values.

    Cases do, and the paired test of a verdict, as its rate is what is shown. Where a case does not say what it passed,
    its scores stand.
    """
    is_verdict = PUBLISHED_METRICS.get(metric, metric) in VERDICT_NAMES
    return rule.kind == "cases" or (rule.kind == "paired" and is_verdict)


def _parts(rule: RegressionRule, metric: str, runs: PairedRuns, groups: Mapping[_Pair, str]) -> Mapping[str, _Part]:
    marks = _by_passes(rule, metric)
    first, second = (_scores(metric, run, marks=marks) for run in (runs.before, runs.after))
    parts: defaultdict[str, defaultdict[tuple[Scores, Scores], list[_Pair]]] = defaultdict(lambda: defaultdict(list))
    for pair, group in groups.items():
        both = first[pair[0]], second[pair[1]]
        if both[0] and not pair[1] and not rule.ignore_removed:
            both = both[0], _REMOVED
        if any(both):
            parts[group][both].append(pair)
    return parts


def _unit(metric: str, group: str, part: _Part, runs: PairedRuns) -> Unit:
    counts = {both: sum(runs.counts[pair] for pair in pairs) for both, pairs in part.items()}
    removed = sum(
        runs.counts[pair]
        for (then, now), pairs in part.items()
        if is_missing(then, now)
        for pair in pairs
        if not pair[1]
    )

    def named(holds: Callable[[Scores, Scores], bool]) -> list[str]:
        return runs.named([pair for both, pairs in part.items() if holds(*both) for pair in pairs])

    return Unit(metric, group, counts, removed, named)


def _scores(metric: str, run: CaseTable, *, marks: bool) -> list[Scores]:
    """Return the scores that each pattern stands for."""
    by_kind = [
        ((kind.mark(metric) if marks and kind.passed else kind.score(metric)),) if kind.asks(metric) else ()
        for kind in run.kinds
    ]
    _, patterns = run.patterns
    return [tuple(score for number in numbers for score in by_kind[number]) for numbers in patterns]


def _groups(rule: RegressionRule, runs: PairedRuns) -> Mapping[_Pair, str]:
    """Return the group of each pair that the rule is about, by the last run that knows it."""
    if not (rule.is_grouped or rule.where):
        return dict.fromkeys(runs.counts, "")
    tools = [_last(run, [kind.tool for kind in run.kinds], "") for run in (runs.before, runs.after)]
    strata = [_last(run, [kind.strata for kind in run.kinds], {}) for run in (runs.before, runs.after)]
    found = {}
    for pair in runs.counts:
        then, now = pair
        here = strata[1][now] or strata[0][then]
        group = (tools[1][now] or tools[0][then]) if rule.per_tool else here.get(rule.per_stratum, "")
        if rule.where.items() <= here.items() and (group or not rule.is_grouped):
            found[pair] = group
    return found


def _last(run: CaseTable, of_kinds: Sequence[_Known], unknown: _Known) -> list[_Known]:
    """Return what the last case of each pattern knows that knows it."""
    _, patterns = run.patterns
    return [next((known for number in reversed(each) if (known := of_kinds[number])), unknown) for each in patterns]
