"""Tell what a gate is asked about and what it answers.

Tell what a gate can ask about: every metric by name with a sentence, and the values that its document takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Literal, NamedTuple, Self

from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.engine.grader_catalog import GRADERS
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.documents import schema
from toolevals.json_types import JsonMapping, JsonObject

CheckStatus = Literal["passed", "failed", "warned", "unanswered", "skipped"]
GateStatus = Literal["passed", "failed", "warned", "unanswered"]
# What a case takes: milliseconds, money, tokens in and out.
Measure = Literal["latency", "cost", "tokens"]
OnFail = Literal["error", "warn", "skip"]

# A score counts as a pass from here on.
PASS_MARK = 0.5
# The group of those that belong to some tool and no one knows to which.
NOT_KNOWN = "(not known)"
# So many examples a check keeps by name.
MOST_EXAMPLES = 1000

# What a judge's metric is called: this and the name of its rubric.
JUDGED = "judged:"
# What the metric of an issue is called: this and the issue's id. A case fails it where the issue is in it.
ISSUE = "issue:"

# The function-call metrics of ai-evaluation, and the verdict of `dialects.other_verdicts` that answers each.
FUNCTION_CALLS: Mapping[str, str] = {
    "function_name_match": "ai_evaluation.name",
    "function_call_exact_match": "ai_evaluation.exact",
    "parameter_validation": "ai_evaluation.parameters",
    "function_call_accuracy": "ai_evaluation.accuracy",
}
# The names that published gates use, and the verdict that answers where a case has no score of the published name.
PUBLISHED_METRICS: Mapping[str, str] = {
    "tool_name_match": "selection",
    "tool_args_shape_match": "shape",
    "tool_args_semantic": "equivalence",
    "argument_validation": "schema",
    "argument_semantics": "equivalence",
    "result_groundedness": "result_use",
    "trajectory_recovery": "recovery",
    **FUNCTION_CALLS,
}
# Those that a judge answers where it is on, and its metric.
PUBLISHED_JUDGES: Mapping[str, str] = {
    "tool_args_semantic": f"{JUDGED}argument_semantics",
    "argument_semantics": f"{JUDGED}argument_semantics",
    "result_groundedness": f"{JUDGED}result_groundedness",
    "trajectory_recovery": f"{JUDGED}trajectory_recovery",
}


class Failure(NamedTuple):
    """A failure of a tool: the tool, the class of its error, and the score of what the agent did, 1 being right.

    The score is None where the rule does not know.
    """

    tool: str
    error_class: str
    score: float | None


@dataclass(frozen=True, slots=True)
class GateCase:
    """One trial of one example, as a gate sees it.

    `scores` are by metric, 0..1; None where the metric was asked and no one has answered (unscored, errored). A metric
    that does not arise in this case is left out. `passed` says whether the case passed a metric that does not simply
    pass from PASS_MARK on. `tool` is the expected class and `called` the actual one, empty where unknown. `failures`
    are the failures of tools in it, with how well the agent reacted. `sources` says which metric answers a published
    name; `only_named` are metrics that are not among every metric here. `runtime_ms`, `cost` and `tokens` are None
    where no one says them. Raises ValueError on a score outside 0..1, a NaN, or what was taken that is negative or not
    finite.
    """

    example: str
    scores: Mapping[str, float | None]
    trial: int = 0
    tool: str = ""
    called: str = ""
    strata: Mapping[str, str] = field(default_factory=dict)
    runtime_ms: float | None = None
    passed: Mapping[str, bool] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    sources: Mapping[str, str] = field(default_factory=lambda: PUBLISHED_METRICS)
    cost: float | None = None
    tokens: float | None = None
    only_named: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for metric, score in self.scores.items():
            if score is not None and not 0 <= score <= 1:
                raise ValueError(f"the score {score} of {metric} is not between 0 and 1")
        for name, taken in (("runtime", self.runtime_ms), ("cost", self.cost), ("number of tokens", self.tokens)):
            if taken is not None and not (isfinite(taken) and taken >= 0):
                raise ValueError(f"{name} cannot be {taken}")

    def asks(self, metric: str) -> bool:
        """Return whether the metric arises in this case."""
        return metric in self.scores or self.sources.get(metric) in self.scores

    def asked(self, metric: str | None) -> list[str]:
        """Return the metric where it arises; every metric that does, by name, where it is None.

        Those of ONLY_BY_NAME are not among every metric.
        """
        if metric is None:
            return sorted(self.scores.keys() - ONLY_BY_NAME - self.only_named)
        return [metric] if self.asks(metric) else []

    def score(self, metric: str) -> float | None:
        """Return the metric's score; None where no one has answered it or it does not arise."""
        return self.scores.get(self._source(metric))

    def mark(self, metric: str) -> float | None:
        """Return 1 where the case passed the metric and 0 where it failed; None as for the score."""
        source = self._source(metric)
        if (score := self.scores.get(source)) is None:
            return None
        return float(self.passed.get(source, score >= PASS_MARK))

    def _source(self, metric: str) -> str:
        return metric if metric in self.scores else self.sources.get(metric, metric)


# What is no part of "every metric": measures of a trajectory that say little of whether the case is right, and those
# of another evaluator.
ONLY_BY_NAME = (frozenset(METRICS) - {"tool_name_f1"}).union(FUNCTION_CALLS.values())


@dataclass(frozen=True, slots=True)
class Check:
    """One condition and how it came out.

    `observed` is the figure over what was scored, None where nothing was; `count` how many cases (of a regression rule:
    how many examples) it was made from; `interval` its 95 % confidence interval where one is defined; `bound` the
    condition in words. `reason` is one sentence that a person can act on, empty where the check passed without remark.
    `metric` is what it is about, empty where it is about all of them. `examples` are those that kept it from passing,
    the first MOST_EXAMPLES of them, `example_count` is how many there are. `note` is what should be read next to the
    figure, and decides nothing.
    """

    name: str
    status: CheckStatus
    observed: float | None
    count: int
    interval: Interval | None
    bound: str
    reason: str = ""
    metric: str = ""
    examples: tuple[str, ...] = ()
    example_count: int = 0
    note: str = ""

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        interval = document["interval"]
        read = {"interval": Interval(*interval) if interval else None, "examples": tuple(document["examples"])}
        return cls(**{**document, **read})

    def to_document(self) -> JsonObject:
        """Return the check as JSON."""
        return {
            "name": self.name,
            "status": self.status,
            "observed": self.observed,
            "count": self.count,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "bound": self.bound,
            "reason": self.reason,
            "metric": self.metric,
            "examples": list(self.examples),
            "example_count": self.example_count,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate's answer. `stopped` says that it stopped at its first failed check and left the rest undecided."""

    checks: tuple[Check, ...]
    stopped: bool = False

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        return cls(tuple(Check.from_document(check) for check in document["checks"]), document["stopped"])

    @property
    def status(self) -> GateStatus:
        """The worst of its checks: failed, unanswered, warned, passed. Where nothing was decided it is unanswered."""
        statuses = {check.status for check in self.checks}
        for status in ("failed", "unanswered", "warned", "passed"):
            if status in statuses:
                return status
        return "unanswered"

    def of_status(self, *statuses: CheckStatus) -> list[Check]:
        """Return the checks with one of these statuses, in order."""
        return [check for check in self.checks if check.status in statuses]

    def to_document(self) -> JsonObject:
        """Return the result as JSON."""
        return {
            "status": self.status,
            "stopped": self.stopped,
            "checks": [check.to_document() for check in self.checks],
        }


def softened(check: Check, on_fail: OnFail) -> Check:
    """Return the check with what `on_fail` makes of a status other than passed: `warn` warns, `skip` sets it aside."""
    if check.status == "passed" or on_fail == "error":
        return check
    status: CheckStatus = "warned" if on_fail == "warn" else "skipped"
    return replace(check, status=status)


def with_examples(check: Check, names: Iterable[str]) -> Check:
    """Return the check with the examples that kept it from passing, each once, in their order; a passed one as is."""
    if check.status == "passed":
        return check
    distinct = tuple(dict.fromkeys(names))
    return replace(check, examples=distinct[:MOST_EXAMPLES], example_count=len(distinct))


def scope_words(where: Mapping[str, str], group: str, kind: str) -> str:
    """Return which cases a check is about, in brackets: ` (bucket refusal, tool pay)`; empty where it is about all."""
    parts = [f"{name} {value}" for name, value in sorted(where.items())]
    if group:
        parts.append(f"{kind} {group}")
    return f" ({', '.join(parts)})" if parts else ""


def metrics_of(cases: Iterable[GateCase]) -> list[str]:
    """Return every metric that arises in the cases, by name, without those that only count where they are named."""
    return sorted({metric for case in cases for metric in case.asked(None)})


@dataclass(frozen=True, slots=True)
class GateMetric:
    """A metric that rules can name, where it comes from (verdicts, judges and others), and a sentence."""

    name: str
    source: str
    sentence: str


def gate_metrics(rubrics: Mapping[str, str] | None = None) -> list[GateMetric]:
    """Return every metric that a gate can name; `rubrics` are those that judges are asked, with their titles."""
    return [
        *(GateMetric(each.name, "verdicts", each.sentence) for each in GRADERS.values()),
        *(GateMetric(each.name, "metrics of a case", each.sentence) for each in METRICS.values()),
        *(
            GateMetric(name, "published names", f"Uses {verdict}, or its judge where that was asked.")
            for name, verdict in PUBLISHED_METRICS.items()
            if name not in FUNCTION_CALLS
        ),
        *(GateMetric(name, "of ai-evaluation", "As ai-evaluation scores the calls.") for name in FUNCTION_CALLS),
        *(GateMetric(f"{JUDGED}{name}", "judges", title) for name, title in (rubrics or {}).items()),
    ]


def allowed_values(rule: str, field: str) -> list[str]:
    """Return the values that a field of a rule takes, as `gate.v1.json` lists them, the default first."""
    node = _resolved(schema("gate")["$defs"][rule]["properties"][field])
    values = [str(value) for value in ([node["const"]] if "const" in node else node["enum"])]
    return sorted(values, key=lambda value: value != node.get("default"))


def _resolved(node: JsonObject) -> JsonObject:
    if "$ref" not in node:
        return node
    found: JsonObject = schema("gate")["$defs"][node["$ref"].rpartition("/")[2]]
    return found | {key: value for key, value in node.items() if key != "$ref"}
