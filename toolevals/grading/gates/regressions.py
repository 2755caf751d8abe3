"""Tell whether a run is worse than the one before it on the same examples: by cases, by a paired test, by averages.

A rule makes a check for each unit: a metric over all examples, or over those of a tool or stratum. A comparison also
says what so many examples could show at all.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb, sqrt
from statistics import NormalDist
from typing import TypeVar

from toolevals.grading.gates.case_table import CaseTable, Scores
from toolevals.grading.gates.results import PASS_MARK, PUBLISHED_METRICS, Check, CheckStatus, scope_words, with_examples
from toolevals.grading.gates.rules import Correction, RegressionKind, RegressionRule
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.grading.metrics.comparison import (
    Comparison,
    benjamini_hochberg,
    compare_alike,
    fewest_changed,
    holm,
    smallest_detectable,
    smallest_detectable_mean,
)
from toolevals.grading.metrics.means import scored_mean
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdict_table import VERDICT_NAMES

# The patterns of an example in the run before and in this one; 0 where it is not there.
_Pair = tuple[int, int]
_Known = TypeVar("_Known")
# (scores before, scores now) -> the pairs of patterns that come to these.
_Part = Mapping[tuple[Scores, Scores], Sequence[_Pair]]
# What an example counts as that the run does not hold: one trial without a score.
_REMOVED: Scores = (None,)
_TOLERANCE = 1e-12
_MOST_NAMED = 5
# From here on so many fair coins are taken as normal.
_FEW_COINS = 1000


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


def can_be_found(examples: int, alpha: float) -> bool:
    """Return whether any change of so many examples is found at this alpha."""
    return examples >= fewest_changed(alpha)


def resolution(compared: Comparison, alpha: float) -> str:
    """Return the smallest difference that the compared examples can show at this alpha, as one sentence.

    Of single trials it is a difference of pass rates. Of several trials, and of scores, an example can change by any
    amount: so it is said how many have to change.
    """
    number = examples_words(compared.examples)
    if not can_be_found(compared.examples, alpha):
        verb = "is" if compared.examples == 1 else "are"
        return f"{number} {verb} too few for any difference to be significant: add examples."
    fewest = fewest_changed(alpha)
    if compared.test == "mcnemar":
        words = f"{number} can show a difference of {fewest / compared.examples:.2g} at best"
        changed = (compared.improved + compared.worsened) / compared.examples
        likely = smallest_detectable(compared.examples, changed, alpha=alpha)
        return (
            f"{words}."
            if likely is None
            else f"{words}, and one of {likely:.2g} four times in five where {changed:.0%} of them change."
        )
    words = f"{number} can show a change of {fewest} of them at best"
    likely = smallest_detectable_mean(compared.examples, compared.spread or 0.0, alpha=alpha)
    return (
        f"{words}."
        if likely is None
        else f"{words}, and at their spread a difference of {likely:.2g} four times in five."
    )


def examples_words(count: int) -> str:
    """Return `1 example`, `1,200 examples`."""
    return f"{count:,} example{'' if count == 1 else 's'}"


def check_regressions(rule: RegressionRule, runs: PairedRuns | None) -> Iterator[Check]:
    """Yield a check for each metric of a rule, and each tool or value of its stratum. Without two runs: unanswered.

    The examples that both runs hold are compared. One that was scored before and is not now could have become worse: a
    check passes only where it would even then.
    """
    if runs is None:
        words = "There is no earlier run to compare with: name a baseline."
        yield from (_unanswered(rule, Unit(metric, ""), words) for metric in rule.metrics)
        return
    units = units_of(rule, runs)
    if rule.is_grouped and not units:
        words = "The two runs hold no example of a group in common: run both on the same examples."
        yield from (_unanswered(rule, Unit(metric, ""), words) for metric in rule.metrics)
    taken = [unit.shared >= rule.skip_below for unit in units]
    asked = [unit for unit, is_taken in zip(units, taken, strict=True) if is_taken]
    checks = iter([_by_cases(rule, unit) for unit in asked] if rule.kind == "cases" else _compared(rule, asked))
    for unit, is_taken in zip(units, taken, strict=True):
        yield next(checks) if is_taken else _skipped(rule, unit)


def _by_cases(rule: RegressionRule, unit: Unit) -> Check:
    """Count the examples that passed before (on average over their trials, from .5 on) and fail now."""
    worse, open_now = sorted(unit.named(_fails_now)), sorted(unit.named(_is_open_now))
    count = sum(count for both, count in unit.counts.items() if None not in map(scored_mean, both))
    if not count:
        return with_examples(_unanswered(rule, unit, _NOTHING_SHARED), open_now)
    most = rule.overrides.get(unit.group, rule.most)
    status: CheckStatus = "passed"
    reason = f"Of {examples_words(count)} each is {1 / count:.2g} of the rate."
    if len(worse) > most:
        status = "failed"
        rest = f" and {len(worse) - _MOST_NAMED:,} more" if len(worse) > _MOST_NAMED else ""
        reason = f"{examples_words(len(worse))} passed before and fail now: {', '.join(worse[:_MOST_NAMED])}{rest}."
    elif len(worse) + len(open_now) > most:
        status = "unanswered"
        reason = f"{examples_words(len(open_now))} passed before and are not scored now: {_to_do(unit)}."
    share = clustered_interval(ExampleSums.single(len(worse), count))
    span = Interval(share.low * count, share.high * count)
    check = _check(rule, unit, status, f"{reason} {_gone(unit)}".strip(), (float(len(worse)), count, span))
    return with_examples(replace(check, note=_alarms_by_cases(unit, most)), worse if status == "failed" else open_now)


def _passed_before(then: Scores) -> bool:
    return (mean := scored_mean(then)) is not None and mean >= PASS_MARK


def _fails_now(then: Scores, now: Scores) -> bool:
    return _passed_before(then) and (mean := scored_mean(now)) is not None and mean < PASS_MARK


def _is_open_now(then: Scores, now: Scores) -> bool:
    return bool(now) and _passed_before(then) and scored_mean(now) is None


def _compared(rule: RegressionRule, units: Sequence[Unit]) -> list[Check]:
    """Compare the means of each unit, as they are and as they could still become."""
    as_is = at_worst = _verdicts(rule, units, [unit.counts for unit in units])
    if any(unit.missing for unit in units):
        at_worst = _verdicts(rule, units, [unit.at_worst() for unit in units])
    found: list[Check] = []
    for unit, (compared, reason), (_, worst_reason) in zip(units, as_is, at_worst, strict=True):
        depends = f"It depends on {examples_words(unit.missing)} scored before and not now: {_to_do(unit)}."
        check = _concluded(rule, unit, compared, reason, depends if worst_reason else "", tests=len(units))
        # What is true of all checks together is said once.
        if rule.kind == "averages" or not found:
            check = replace(check, note=_alarms(rule, unit, compared))
        found.append(with_examples(check, _at_fault(unit)))
    return found


def _verdicts(
    rule: RegressionRule, units: Sequence[Unit], counts: Sequence[Mapping[tuple[Scores, Scores], int]]
) -> list[tuple[Comparison, str]]:
    """Return the comparison of each unit by its counts, and in words why it is a regression, empty where it is none."""
    compared = [compare_alike(each) for each in counts]
    if rule.kind == "averages":
        return [(each, _dropped(each, _max_drop(rule, unit))) for unit, each in zip(units, compared, strict=True)]
    adjusted = _ADJUST[rule.correction]([each.p_value for each in compared])
    return [(each, _significant(each, p, rule.alpha)) for each, p in zip(compared, adjusted, strict=True)]


def _dropped(compared: Comparison, most: float) -> str:
    if compared.difference is None or compared.difference >= -most - _TOLERANCE:
        return ""
    return f"The mean fell from {compared.before:.4g} to {compared.after:.4g}: see what changed."


def _significant(compared: Comparison, p_value: float | None, alpha: float) -> str:
    if compared.difference is None or compared.difference >= 0 or p_value is None or p_value > alpha:
        return ""
    return f"Worse by {-compared.difference:.4g} (p = {p_value:.2g}): see what changed."


def _concluded(
    rule: RegressionRule, unit: Unit, compared: Comparison, reason: str, depends: str, *, tests: int
) -> Check:
    if compared.difference is None:
        return _unanswered(rule, unit, _NOTHING_SHARED)
    # What a test by itself has to reach, where it is one of several.
    corrected = rule.kind == "paired" and rule.correction != "none"
    alpha = rule.alpha / tests if corrected else rule.alpha
    status: CheckStatus = "passed"
    if reason:
        status = "failed"
    elif rule.kind == "paired" and not can_be_found(compared.examples, alpha):
        status = "unanswered"
    elif depends:
        status, reason = "unanswered", depends
    words = " ".join(filter(None, (reason, resolution(compared, alpha), _gone(unit))))
    found = compared.difference, compared.examples, compared.interval
    return _check(rule, unit, status, words, found, tests=tests if corrected else 1)


def _alarms(rule: RegressionRule, unit: Unit, compared: Comparison) -> str:
    """Return how often an agent that is as good as before fails the rule, as one sentence.

    Under the paired test it is at most half of alpha, over all of its checks where they are corrected. A mean falls by
    more than d with the chance of a normal deviate below -d·√n/s, s being the spread of the examples' differences.
    """
    if rule.kind == "paired":
        what = "each of these checks" if rule.correction == "none" else "any check of this rule"
        return f"An agent as good as before fails {what} in about {50 * rule.alpha:.3g} % of runs or fewer."
    if not compared.spread:
        return _NO_ALARMS_KNOWN
    chance = NormalDist().cdf(-_max_drop(rule, unit) * sqrt(compared.examples) / compared.spread)
    return _alarms_words(chance, compared.examples)


def _alarms_by_cases(unit: Unit, most: float) -> str:
    """Return how often an agent that is as good as before has more than `most` examples that fail now.

    Of d examples that came out otherwise than before, half fail now on average, as many as heads of d fair coins.
    """
    changed = count = 0
    for both, number in unit.counts.items():
        then, now = map(scored_mean, both)
        if then is not None and now is not None:
            count += number
            changed += number * ((then >= PASS_MARK) != (now >= PASS_MARK))
    if not changed:
        return _NO_ALARMS_KNOWN
    if changed <= _FEW_COINS:
        chance = 1 - sum(comb(changed, heads) for heads in range(min(int(most), changed) + 1)) / 2**changed
    else:
        chance = 1 - NormalDist(changed / 2, sqrt(changed) / 2).cdf(int(most) + 0.5)
    return _alarms_words(chance, count)


def _alarms_words(chance: float, examples: int) -> str:
    words = "less than 1" if chance < 0.01 else "more than 99" if chance > 0.99 else f"about {100 * chance:.0f}"
    changing = f"{examples_words(examples)}, changing as often as here"
    return f"An agent as good as before fails this check in {words} % of runs ({changing})."


def _at_fault(unit: Unit) -> Iterator[str]:
    """Yield the examples whose mean over their trials fell; where there are none, those that are still open."""
    yield from sorted(unit.named(_fell)) or unit.named(is_missing)


def _fell(then: Scores, now: Scores) -> bool:
    means = scored_mean(then), scored_mean(now)
    return means[0] is not None and means[1] is not None and means[1] < means[0]


def _to_do(unit: Unit) -> str:
    """Return what makes the examples known that have no score now."""
    if not unit.removed:
        return "score them"
    run_them = f"{unit.removed:,} {'is' if unit.removed == 1 else 'are'} not in this run (run them, or ignore_removed)"
    return run_them if unit.removed == unit.missing else f"score them, and {run_them}"


def _gone(unit: Unit) -> str:
    gone = unit.gone
    return (
        f"{examples_words(gone)} of the earlier run {'is' if gone == 1 else 'are'} missing from this one."
        if gone
        else ""
    )


def _unanswered(rule: RegressionRule, unit: Unit, reason: str) -> Check:
    return _check(rule, unit, "unanswered", reason)


def _skipped(rule: RegressionRule, unit: Unit) -> Check:
    count = unit.shared
    reason = f"Only {examples_words(count)} to compare: the rule takes groups from {rule.skip_below:,} on."
    return _check(rule, unit, "skipped", reason, (None, count, None))


def _check(
    rule: RegressionRule,
    unit: Unit,
    status: CheckStatus,
    reason: str,
    found: tuple[float | None, int, Interval | None] = (None, 0, None),
    *,
    tests: int = 1,
) -> Check:
    """Return a check; `found` is its value, the examples that it is of, and its interval."""
    scope = scope_words(rule.where, unit.group, "tool" if rule.per_tool else rule.per_stratum)
    name = f"{unit.metric} against the run before, by {_WORDS[rule.kind]}{scope}"
    return Check(name, status, *found, _bound(rule, unit, tests=tests), reason, unit.metric)


def _bound(rule: RegressionRule, unit: Unit, *, tests: int = 1) -> str:
    if rule.kind == "cases":
        return f"at most {rule.overrides.get(unit.group, rule.most):g} worse"
    if rule.kind == "averages":
        return f"no drop beyond {_max_drop(rule, unit):g}"
    corrected = f", {_CORRECTIONS[rule.correction]} over {tests:,} tests" if tests > 1 else ""
    return f"not worse at alpha = {rule.alpha:g}{corrected}"


def _max_drop(rule: RegressionRule, unit: Unit) -> float:
    return rule.overrides.get(unit.group, rule.max_drop)


_ADJUST: Mapping[Correction, Callable[[Sequence[float | None]], list[float | None]]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "none": list,
}
_CORRECTIONS: Mapping[Correction, str] = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg", "none": ""}
_WORDS: Mapping[RegressionKind, str] = {"cases": "cases", "paired": "paired test", "averages": "averages"}
_NO_ALARMS_KNOWN = "How often an agent as good as before fails this check is not known: no example changed."
_NOTHING_SHARED = "No example is scored in both runs: run both on the same examples."
