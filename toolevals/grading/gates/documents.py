"""Reads a gate's document: checks it against its JSON Schema, then its conditions by grammar, faults by place.

Tell what no gate may name: baseline agents and public benchmarks, which are read next to a run's scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.gates.conditions import (
    CaseAssertion,
    Condition,
    ConditionError,
    parse_case_assertion,
    parse_condition,
)
from toolevals.grading.gates.metrics import SHARES, STATISTICS
from toolevals.grading.gates.rules import (
    MEASURED_STATISTICS,
    RECOVERY,
    TOOL_STATISTICS,
    Assertion,
    Bound,
    ConsistencyRule,
    Gate,
    MetricGroup,
    PerFailure,
    RegressionKind,
    RegressionRule,
    Thresholds,
    UnscoredPolicy,
    read_group,
)
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonValue

_OUTSIDE = re.compile(
    r"(?:public(?:[_-]?benchmarks?)?|benchmarks?|floors?|baseline[_-]?agents?|bfcl(?:[_-]v\d+)?|tau2?(?:[_-]?bench)?)(?:[:./].*)?",
    re.ASCII | re.IGNORECASE,
)


def is_outside(metric: str) -> bool:
    """Return whether a name is that of a public benchmark or a baseline agent, also with more after `:`, `.`, `/`."""
    return _OUTSIDE.fullmatch(metric) is not None


def outside_problems(document: JsonMapping) -> Iterator[Problem]:
    """Yield a problem for each place of a gate's document, valid by its schema, that names what no gate may."""
    for place, metric in named_metrics(document):
        if is_outside(metric):
            words = "is not a metric of a gate: no gate uses baseline agents and public benchmarks"
            yield Problem(pointer_to(place), f"{metric} {words}")


def named_metrics(document: JsonMapping) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield each metric that is named, with the place where it is."""
    for place, bound in enumerate(document.get("bounds", ())):
        yield ("bounds", place, "metric"), bound["metric"]
    for place, assertion in enumerate(document.get("assertions", ())):
        if isinstance(assertion, str):
            yield ("assertions", place), _subject(assertion)
        else:
            yield ("assertions", place, "template"), assertion.get("template") or ""
    for metric in document.get("thresholds", {}).get("overrides", {}):
        yield ("thresholds", "overrides", metric), metric
    for place, rule in enumerate(document.get("regressions", ())):
        for at, metric in enumerate(rule.get("metrics", ())):
            yield ("regressions", place, "metrics", at), metric
    for place, rule in enumerate(document.get("consistency", ())):
        yield ("consistency", place, "metric"), rule.get("metric", "")
    for place, group in enumerate(document.get("groups", ())):
        for at, metric in enumerate(group.get("metrics", ())):
            yield ("groups", place, "metrics", at), metric


def _subject(assertion: str) -> str:
    try:
        return parse_case_assertion(assertion).condition.subject
    except ConditionError:
        # Its own fault is told by those who read it.
        return ""


def read_gate(document: JsonValue) -> Gate:
    """Return the gate that a document (see `schemas/gate.v1.json`) describes.

    Raises InvalidDocument with every problem by JSON pointer; a condition's fault names the character too.
    """
    require_valid(document, "gate")
    reader = _Reader()
    gate = Gate(
        bounds=tuple(reader.bound(i, each) for i, each in enumerate(document.get("bounds", ()))),
        case_assertions=reader.case_assertions(document.get("assertions", ())),
        assertions=reader.assertions(document.get("assertions", ())),
        thresholds=_thresholds(document.get("thresholds", {})),
        regressions=tuple(reader.regression(i, each) for i, each in enumerate(document.get("regressions", ()))),
        unscored=_unscored(document.get("unscored", {})),
        groups=reader.groups(document.get("groups", ())),
        consistency=tuple(_consistency(each) for each in document.get("consistency", ())),
        tool_drift=document["tool_drift"].get("on_fail", "error") if "tool_drift" in document else None,
    )
    reader.problems += outside_problems(document)
    if reader.problems:
        raise InvalidDocument(reader.problems)
    return gate


class _Reader:
    """Reads what the schema cannot check, and keeps every problem."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def say(self, pointer: str, words: str) -> None:
        self.problems.append(Problem(pointer, words))

    def bound(self, place: int, document: JsonMapping) -> Bound:
        statistic = document.get("statistic", "pass_rate")
        minimum, maximum = document.get("min"), document.get("max")
        overrides = {
            name: _between(statistic, value, None if minimum is not None else value)
            if minimum is not None
            else _between(statistic, None, value)
            for name, value in document.get("overrides", {}).items()
        }
        here = pointer_to(["bounds", place])
        per_failure = self._per_failure(here, document, statistic)
        if minimum is not None and maximum is not None:
            if minimum > maximum:
                self.say(f"{here}/min", "is above max, so no value can be between")
            if overrides:
                self.say(f"{here}/overrides", "cannot be combined with both min and max")
        if overrides and not document.keys() & _GROUPED:
            self.say(f"{here}/overrides", _NEEDS_GROUPS)
        if statistic in MEASURED_STATISTICS and document.get("decide_by") == "interval":
            self.say(f"{here}/decide_by", f"is interval: {statistic} has none, ask for the value")
        if statistic in SHARES or statistic in TOOL_STATISTICS:
            limits = {"min": minimum, "max": maximum} | {f"overrides/{k}": v for k, v in _escaped(document).items()}
            for name, value in limits.items():
                if value is not None and value > 1:
                    self.say(f"{here}/{name}", f"is {value:g}: {statistic} is a share from 0 to 1, not a percentage")
        return Bound(
            metric=document["metric"],
            statistic=statistic,
            condition=_between(statistic, minimum, maximum),
            per_tool=document.get("per") == "tool" and per_failure is None,
            per_stratum=document.get("per_stratum", ""),
            per_failure=per_failure,
            overrides=overrides,
            where=document.get("where", {}),
            decide_by=document.get("decide_by", "value"),
            on_fail=document.get("on_fail", "error"),
        )

    def _per_failure(self, here: str, document: JsonMapping, statistic: str) -> PerFailure | None:
        """Return by what of the failures of tools a bound on recovery is asked; None where it is asked by cases."""
        per: PerFailure | None = document.get("per")
        if per is None or statistic in TOOL_STATISTICS:
            return None
        if document["metric"] in RECOVERY and statistic not in MEASURED_STATISTICS:
            return per
        if per != "tool":
            self.say(
                f"{here}/per",
                f"is for failures of tools: metrics {' and '.join(RECOVERY)}, and not for what cases take",
            )
        return None

    def regression(self, place: int, document: JsonMapping) -> RegressionRule:
        here, kind = pointer_to(["regressions", place]), document["rule"]
        for name, kinds in _OF_KINDS.items():
            if name in document and kind not in kinds:
                self.say(f"{here}/{name}", f"does not apply to the rule {kind}, only to {' and '.join(kinds)}")
        for name in ("overrides", "skip_below"):
            if document.get(name) and not document.keys() & _GROUPED:
                self.say(f"{here}/{name}", _NEEDS_GROUPS)
        for name, value in _escaped(document).items():
            if kind == "cases" and value != int(value):
                self.say(f"{here}/overrides/{name}", f"is {value:g}: so many examples are a whole number")
            if kind == "averages" and value > 1:
                self.say(f"{here}/overrides/{name}", f"is {value:g}: a drop is a share from 0 to 1")
        return _regression(document)

    def groups(self, documents: Sequence[object]) -> tuple[MetricGroup, ...]:
        groups: dict[str, MetricGroup] = {}
        for place, document in enumerate(documents):
            try:
                group = read_group(document)
            except InvalidDocument as error:
                self.problems += error.below(pointer_to(["groups", place])).problems
                continue
            if group.name in groups:
                self.problems.append(Problem(pointer_to(["groups", place, "name"]), "is the name of two groups"))
            groups[group.name] = group
        return tuple(groups.values())

    def case_assertions(self, documents: list[Any]) -> tuple[CaseAssertion, ...]:
        found = []
        for place, text in enumerate(documents):
            if isinstance(text, str):
                try:
                    found.append(parse_case_assertion(text))
                except ConditionError as error:
                    self.problems.append(Problem(pointer_to(["assertions", place]), str(error)))
        return tuple(found)

    def assertions(self, documents: list[Any]) -> tuple[Assertion, ...]:
        return tuple(
            Assertion(
                template=None if document.get("global") else document["template"],
                conditions=self._conditions(place, document["conditions"]),
                on_fail=document.get("on_fail", "error"),
            )
            for place, document in enumerate(documents)
            if not isinstance(document, str)
        )

    def _conditions(self, place: int, texts: list[str]) -> tuple[Condition, ...]:
        found = []
        for at, text in enumerate(texts):
            try:
                found.append(parse_condition(text, STATISTICS, SHARES))
            except ConditionError as error:
                self.problems.append(Problem(pointer_to(["assertions", place, "conditions", at]), str(error)))
        return tuple(found)


_GROUPED = frozenset(("per", "per_stratum"))
_NEEDS_GROUPS = "needs per or per_stratum: it is about one group of several"
# What only some kinds of regression rules take.
_OF_KINDS: Mapping[str, tuple[RegressionKind, ...]] = {
    "most": ("cases",),
    "alpha": ("paired",),
    "correction": ("paired",),
    "max_drop": ("averages",),
    "overrides": ("cases", "averages"),
}


def _escaped(document: JsonMapping) -> dict[str, float]:
    """Return the overrides by what their names are in a JSON pointer."""
    return {pointer_to([name])[1:]: value for name, value in document.get("overrides", {}).items()}


def _between(subject: str, minimum: float | None, maximum: float | None) -> Condition:
    if minimum is None:
        return Condition(subject, "<=", maximum or 0.0)
    return Condition(subject, ">=", minimum, maximum)


def _thresholds(document: JsonMapping) -> Thresholds:
    return Thresholds(
        document.get("default_pass_rate"), document.get("overrides", {}), document.get("fail_fast", False)
    )


def _regression(document: JsonMapping) -> RegressionRule:
    return RegressionRule(
        kind=document["rule"],
        metrics=tuple(document["metrics"]),
        most=document.get("most", 0),
        alpha=document.get("alpha", 0.05),
        correction=document.get("correction", "holm"),
        max_drop=document.get("max_drop", 0.0),
        per_tool=document.get("per") == "tool",
        per_stratum=document.get("per_stratum", ""),
        overrides=document.get("overrides", {}),
        where=document.get("where", {}),
        skip_below=document.get("skip_below", 0),
        ignore_removed=document.get("ignore_removed", False),
        on_fail=document.get("on_fail", "error"),
    )


def _consistency(document: JsonMapping) -> ConsistencyRule:
    return ConsistencyRule(
        minimum=document["min"],
        metric=document.get("metric", "outcome"),
        k=document.get("k", 8),
        decide_by=document.get("decide_by", "value"),
        on_fail=document.get("on_fail", "error"),
    )


def _unscored(document: JsonMapping) -> UnscoredPolicy:
    return UnscoredPolicy(document.get("minimum_share"), document.get("minimum_count", 1))
