"""Tell which dialects there are: what each reads, prints and can be told. One readable table.

`bfcl` reads rows of its own; the others read ours and give a score for each of their metrics.

Tell what a dialect is: another tool's metrics by name, its options, and its scores on a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from toolevals.grading.dialects import adk, ai_evaluation, ragas
from toolevals.grading.dialects.agentevals import TrajectoryMatch
from toolevals.grading.dialects.ai_evaluation import FunctionCallMetrics
from toolevals.grading.dialects.deepeval import ToolCorrectness
from toolevals.grading.dialects.plain_calls import attempt
from toolevals.grading.dialects.rows import Comparison, NoFormError
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

Score: TypeAlias = "float | bool"
Metrics: TypeAlias = Mapping[str, Callable[[Comparison], Score]]


_TAKES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "flag": ("true | false", (bool,)),
    "number": ("a number", (int, float)),
    "object": ("a JSON object", (dict,)),
    "text": ("text", (str,)),
}


class WrongOptionError(ValueError):
    """An option that the dialect has not, or a value that it does not take."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a dialect, under its original's name; `choices` where it is one of these words."""

    name: str
    default: JsonValue
    kind: Literal["flag", "number", "object", "choice", "text"] = "flag"
    choices: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """Return what the option takes, in words."""
        return " | ".join(self.choices) if self.choices else _TAKES[self.kind][0]

    def read(self, text: str) -> Any:
        """Return the value that text stands for. Raises WrongOptionError."""
        if self.choices or self.kind == "text":
            value: JsonValue = text
            fits = not self.choices or text in self.choices
        else:
            try:
                value = load_json(text)
            except InvalidDocument:
                value = None
            fits = type(value) in _TAKES[self.kind][1]
        if not fits:
            raise WrongOptionError(f"{self.name} takes {self.takes}, not {text}")
        return value


@dataclass(frozen=True, slots=True)
class Dialect:
    """Another tool's verdicts.

    `metrics` returns its scorers for the chosen options; None where it has rows of its own.
    """

    name: str
    package: str
    version: str
    reads: str
    prints: tuple[str, ...]
    options: tuple[Option, ...] = ()
    metrics: Callable[[JsonMapping], Metrics] | None = None

    def chosen(self, given: Iterable[tuple[str, str]]) -> JsonObject:
        """Return every option's value, as given in text or at its default. Raises WrongOptionError."""
        known = {option.name: option for option in self.options}
        values = {option.name: option.default for option in self.options}
        for name, text in given:
            if name not in known:
                raise WrongOptionError(f"{self.name} has no option {name}: it has {', '.join(known)}")
            values[name] = known[name].read(text)
        return values


@dataclass(frozen=True, slots=True)
class DialectScores:
    """A dialect's scores on one row; None where a metric has none.

    `error` names the exception that the original raises there, `unscored` says what it has no form for.
    """

    metrics: dict[str, Score | None]
    error: str | None = None
    unscored: str | None = None


def score(metrics: Metrics, row: Comparison) -> DialectScores:
    """Score one row by every metric. Nothing that the row holds is raised."""
    scores: dict[str, Score | None] = {}
    errors: list[str] = []
    reasons: list[str] = []
    for name, metric in metrics.items():
        found = attempt(partial(metric, row))
        scores[name] = None if isinstance(found, Exception) else found
        if isinstance(found, NoFormError):
            reasons.append(str(found))
        elif isinstance(found, Exception):
            errors.append(type(found).__name__)
    return DialectScores(scores, errors[0] if errors else None, reasons[0] if reasons else None)


def no_scores(metrics: Metrics, reason: str) -> DialectScores:
    """Return what a row gets that cannot be compared at all."""
    return DialectScores(dict.fromkeys(metrics), unscored=reason)


def _ai_evaluation(options: JsonMapping) -> Metrics:
    metrics = FunctionCallMetrics(**options)

    def scorer(name: str) -> Callable[[Comparison], Score]:
        def scored(row: Comparison) -> Score:
            definitions = row.definitions() if name == "parameter_validation" else ()
            return metrics.score(name, row.expected_response, row.response, definitions)

        return scored

    return {name: scorer(name) for name in ai_evaluation.METRICS}


def _agentevals(options: JsonMapping) -> Metrics:
    evaluator = TrajectoryMatch(**options)
    return {
        f"trajectory_{evaluator.trajectory_match_mode}_match": lambda row: evaluator.score(
            row.expected_messages, row.made_messages
        )
    }


def _ragas(options: JsonMapping) -> Metrics:
    return {
        "tool_call_accuracy": lambda row: ragas.tool_call_accuracy(row.expected, row.plain_made, **options),
        "tool_call_f1": lambda row: ragas.tool_call_f1(row.expected, row.plain_made),
    }


def _adk(options: JsonMapping) -> Metrics:
    return {"tool_trajectory_avg_score": lambda row: adk.tool_trajectory(row.expected, row.plain_made, **options)}


def _deepeval(options: JsonMapping) -> Metrics:
    metric = ToolCorrectness(**options)
    return {"tool_correctness": lambda row: metric.score(row.expected, row.plain_made)}


_NATIVE = "rows in our own format, an example and its prediction in one object"
_ARGUMENT_MODES = ("exact", "ignore", "subset", "superset")

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "bfcl",
            "bfcl-eval",
            "2026.3.23",
            "the leaderboard's rows: category, functions, possible_answer, prediction",
            ("valid", "error_type"),
            (Option("simulators", None, "text"),),
        ),
        Dialect(
            "ai_evaluation",
            "ai-evaluation",
            "1.1.0",
            _NATIVE,
            ai_evaluation.METRICS,
            (
                Option("strict_type_check", default=False),
                Option("ignore_extra_params", default=False),
                Option("order_matters", default=False),
                Option("name_weight", 0.4, "number"),
                Option("presence_weight", 0.3, "number"),
                Option("value_weight", 0.3, "number"),
            ),
            _ai_evaluation,
        ),
        Dialect(
            "agentevals",
            "agentevals",
            "0.0.9",
            _NATIVE,
            tuple(f"trajectory_{mode}_match" for mode in ("strict", "unordered", "subset", "superset")),
            (
                Option("trajectory_match_mode", "strict", "choice", ("strict", "unordered", "subset", "superset")),
                Option("tool_args_match_mode", "exact", "choice", _ARGUMENT_MODES),
                Option("tool_args_match_overrides", None, "object"),
            ),
            _agentevals,
        ),
        Dialect(
            "ragas",
            "ragas",
            "0.4.3",
            _NATIVE,
            ("tool_call_accuracy", "tool_call_f1"),
            (Option("strict_order", default=True),),
            _ragas,
        ),
        Dialect(
            "adk",
            "google-adk",
            "2.13.0",
            _NATIVE,
            ("tool_trajectory_avg_score",),
            (
                Option("match_type", "EXACT", "choice", ("EXACT", "IN_ORDER", "ANY_ORDER")),
                Option("ignore_args", default=False),
            ),
            _adk,
        ),
        Dialect(
            "deepeval",
            "deepeval",
            "4.3.1",
            _NATIVE,
            ("tool_correctness",),
            (
                Option("input_parameters", default=False),
                Option("should_exact_match", default=False),
                Option("should_consider_ordering", default=False),
                Option("strict_mode", default=False),
            ),
            _deepeval,
        ),
    )
}
