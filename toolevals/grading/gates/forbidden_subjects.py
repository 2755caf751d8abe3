"""Tell what no gate may name: baseline agents and public benchmarks, which are read next to a run's scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolevals.grading.gates.conditions import ConditionError, parse_case_assertion
from toolevals.grading.values.problems import Problem, pointer_to

_OUTSIDE = re.compile(
    r"(?:public(?:[_-]?benchmarks?)?|benchmarks?|floors?|baseline[_-]?agents?|bfcl(?:[_-]v\d+)?|tau2?(?:[_-]?bench)?)(?:[:./].*)?",
    re.ASCII | re.IGNORECASE,
)


def is_outside(metric: str) -> bool:
    """Return whether a name is that of a public benchmark or a baseline agent, also with more after `:`, `.`, `/`."""
    return _OUTSIDE.fullmatch(metric) is not None


def outside_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for each place of a gate's document, valid by its schema, that names what no gate may."""
    for place, metric in _named(document):
        if is_outside(metric):
            words = "is no metric of a gate: no gate uses baseline agents and public benchmarks"
            yield Problem(pointer_to(place), f"{metric} {words}")


def _named(document: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
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
