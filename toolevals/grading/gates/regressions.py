"""Whether a run is worse than the one before it on the same examples: by cases, by a paired test, by averages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from toolevals.grading.gates.rules import Correction, RegressionKind, RegressionRule
from toolevals.grading.gates.values import PASS_MARK, Check, CheckStatus, GateCase, with_examples
from toolevals.grading.metrics.bootstrap import scored_mean
from toolevals.grading.metrics.comparison import Comparison, compare_runs
from toolevals.grading.metrics.multiplicity import benjamini_hochberg, holm
from toolevals.grading.metrics.power import smallest_detectable, smallest_significant

_Outcomes = Mapping[str, Sequence[float | None]]
_TOLERANCE = 1e-12
_MOST_NAMED = 5


def check_regressions(
    rule: RegressionRule, cases: Sequence[GateCase], baseline: Sequence[GateCase] | None
) -> Iterable[Check]:
    """Yield one check for each metric of a rule. Without a baseline all are unanswered.

    Compared are the examples that both runs hold. One that was scored before and is not now could have become worse: a
    check passes only where it would even then.
    """
    if baseline is None:
        for metric in rule.metrics:
            yield _unanswered(rule, metric, "There is no run before this one to compare with: name a baseline.")
        return
    pairs = [(_outcomes(baseline, metric), _outcomes(cases, metric)) for metric in rule.metrics]
    if rule.kind == "cases":
        for metric, (before, after) in zip(rule.metrics, pairs, strict=True):
            yield _by_cases(rule, metric, before, after)
        return
    missing = [_missing(*pair) for pair in pairs]
    as_is = at_worst = _verdicts(rule, pairs)
    if any(missing):
        at_worst = _verdicts(rule, [(before, _at_worst(before, after)) for before, after in pairs])
    for place, (metric, pair) in enumerate(zip(rule.metrics, pairs, strict=True)):
        (compared, reason), (_, worst_reason) = as_is[place], at_worst[place]
        depends = f"It depends on {_examples(len(missing[place]))} scored before and not now: score them."
        check = _concluded(rule, metric, compared, reason, depends if worst_reason else "")
        yield check if check.status == "passed" else with_examples(check, _worsened(*pair) or missing[place])


def _by_cases(rule: RegressionRule, metric: str, before: _Outcomes, after: _Outcomes) -> Check:
    """Count the examples that passed before (on average over their trials, from .5 on) and fail now."""
    means = {
        example: (scored_mean(before[example]), scored_mean(after[example])) for example in before if example in after
    }
    passed = {example: now for example, (mean, now) in means.items() if mean is not None and mean >= PASS_MARK}
    worse = sorted(example for example, now in passed.items() if now is not None and now < PASS_MARK)
    unknown = sum(now is None for now in passed.values())
    count = sum(None not in both for both in means.values())
    name, bound, observed = _name(rule, metric), _bound(rule), float(len(worse))
    if not count:
        return _unanswered(rule, metric, _NOTHING_SHARED)
    if len(worse) > rule.most:
        named = ", ".join(worse[:_MOST_NAMED]) + (
            f" and {len(worse) - _MOST_NAMED:,} more" if len(worse) > _MOST_NAMED else ""
        )
        reason = f"{_examples(len(worse))} passed before and fail now: {named}."
        return with_examples(Check(name, "failed", observed, count, None, bound, reason, metric), worse)
    if len(worse) + unknown > rule.most:
        reason = f"{_examples(unknown)} passed before and cannot be told now: score them."
        open_now = sorted(example for example, now in passed.items() if now is None)
        return with_examples(Check(name, "unanswered", observed, count, None, bound, reason, metric), open_now)
    return Check(name, "passed", observed, count, None, bound, "", metric)


def _verdicts(rule: RegressionRule, pairs: Sequence[tuple[_Outcomes, _Outcomes]]) -> list[tuple[Comparison, str]]:
    """Return each comparison, and in words why it is a regression, empty where it is none."""
    compared = [compare_runs(before, after) for before, after in pairs]
    if rule.kind == "averages":
        return [(each, _dropped(each, rule.max_drop)) for each in compared]
    adjusted = _ADJUST[rule.correction]([each.p_value for each in compared])
    return [(each, _significant(each, p, rule.alpha)) for each, p in zip(compared, adjusted, strict=True)]


def _dropped(compared: Comparison, most: float) -> str:
    if compared.difference is None or compared.difference >= -most - _TOLERANCE:
        return ""
    return f"The mean fell from {compared.before:.4g} to {compared.after:.4g}: see what changed."


def _significant(compared: Comparison, p_value: float | None, alpha: float) -> str:
    """Decide passes and failures by their exact test, scores, which none takes, by the paired bootstrap."""
    if compared.difference is None or compared.difference >= 0:
        return ""
    if p_value is not None:
        found, words = p_value <= alpha, f"p = {p_value:.2g}"
    else:
        found = compared.interval is not None and compared.interval.high < 0
        words = "the whole interval is below 0"
    return f"Worse by {-compared.difference:.4g} ({words}): see what changed." if found else ""


def _concluded(rule: RegressionRule, metric: str, compared: Comparison, reason: str, depends: str) -> Check:
    if compared.difference is None:
        return _unanswered(rule, metric, _NOTHING_SHARED)
    status: CheckStatus = "passed"
    shown = _resolution(compared, rule.alpha)
    if reason:
        status = "failed"
    elif rule.kind == "paired" and smallest_significant(compared.examples, rule.alpha) is None:
        status = "unanswered"
    elif depends:
        status, reason = "unanswered", depends
    return Check(
        _name(rule, metric),
        status,
        compared.difference,
        compared.examples,
        compared.interval,
        _bound(rule),
        f"{reason} {shown}".strip(),
        metric,
    )


def _resolution(compared: Comparison, alpha: float) -> str:
    """Say the smallest difference that so many examples can show."""
    least = smallest_significant(compared.examples, alpha)
    if least is None:
        return f"{_examples(compared.examples)} are too few for any difference to be significant: add examples."
    changed = (compared.improved + compared.worsened) / compared.examples
    likely = smallest_detectable(compared.examples, changed, alpha=alpha)
    words = f"{_examples(compared.examples)} can show a difference of {least:.2g} at best"
    if likely is None:
        return f"{words}."
    return f"{words}, and one of {likely:.2g} four times in five where {changed:.0%} of them change."


def _at_worst(before: _Outcomes, after: _Outcomes) -> _Outcomes:
    """Return the second run with 0 for every example that was scored before and is not now."""
    return {
        example: [0.0] if scored_mean(trials) is None and scored_mean(before.get(example, ())) is not None else trials
        for example, trials in after.items()
    }


def _missing(before: _Outcomes, after: _Outcomes) -> list[str]:
    return [
        example
        for example, trials in after.items()
        if scored_mean(before.get(example, ())) is not None and scored_mean(trials) is None
    ]


def _worsened(before: _Outcomes, after: _Outcomes) -> list[str]:
    """Return the examples whose mean over their trials fell."""
    means = {example: (scored_mean(before.get(example, ())), scored_mean(after[example])) for example in after}
    return sorted(name for name, (then, now) in means.items() if then is not None and now is not None and now < then)


def _outcomes(cases: Sequence[GateCase], metric: str) -> _Outcomes:
    outcomes: defaultdict[str, list[float | None]] = defaultdict(list)
    for case in cases:
        if case.asks(metric):
            outcomes[case.example].append(case.score(metric))
    return outcomes


def _unanswered(rule: RegressionRule, metric: str, reason: str) -> Check:
    return Check(_name(rule, metric), "unanswered", None, 0, None, _bound(rule), reason, metric)


def _name(rule: RegressionRule, metric: str) -> str:
    return f"{metric} against the run before, by {_WORDS[rule.kind]}"


def _bound(rule: RegressionRule) -> str:
    if rule.kind == "cases":
        return f"at most {rule.most} worse"
    return f"no drop beyond {rule.max_drop:g}" if rule.kind == "averages" else f"not worse at alpha = {rule.alpha:g}"


def _examples(count: int) -> str:
    return f"{count:,} example{'' if count == 1 else 's'}"


def _as_they_are(p_values: Sequence[float | None]) -> list[float | None]:
    return list(p_values)


_ADJUST: Mapping[Correction, Callable[[Sequence[float | None]], list[float | None]]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "none": _as_they_are,
}
_WORDS: Mapping[RegressionKind, str] = {"cases": "cases", "paired": "paired test", "averages": "averages"}
_NOTHING_SHARED = "No example is scored in both runs: run both on the same examples."
