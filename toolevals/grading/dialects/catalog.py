"""Tell which dialects there are: what each reads, prints and can be told. One readable table.

`bfcl` reads rows of its own; the others read ours and give a score for each of their metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolevals.grading.dialects import adk, ai_evaluation, ragas
from toolevals.grading.dialects.agentevals import TrajectoryMatch
from toolevals.grading.dialects.ai_evaluation import FunctionCallMetrics
from toolevals.grading.dialects.deepeval import ToolCorrectness
from toolevals.grading.dialects.dialect import Dialect, Metrics, Option, Score
from toolevals.grading.dialects.rows import Comparison


def _ai_evaluation(options: Mapping[str, Any]) -> Metrics:
    metrics = FunctionCallMetrics(**options)

    def scorer(name: str) -> Callable[[Comparison], Score]:
        def scored(row: Comparison) -> Score:
            definitions = row.definitions() if name == "parameter_validation" else ()
            return metrics.score(name, row.expected_response, row.response, definitions)

        return scored

    return {name: scorer(name) for name in ai_evaluation.METRICS}


def _agentevals(options: Mapping[str, Any]) -> Metrics:
    evaluator = TrajectoryMatch(**options)
    return {
        f"trajectory_{evaluator.trajectory_match_mode}_match": lambda row: evaluator.score(
            row.expected_messages, row.made_messages
        )
    }


def _ragas(options: Mapping[str, Any]) -> Metrics:
    return {
        "tool_call_accuracy": lambda row: ragas.tool_call_accuracy(row.expected, row.plain_made, **options),
        "tool_call_f1": lambda row: ragas.tool_call_f1(row.expected, row.plain_made),
    }


def _adk(options: Mapping[str, Any]) -> Metrics:
    return {"tool_trajectory_avg_score": lambda row: adk.tool_trajectory(row.expected, row.plain_made, **options)}


def _deepeval(options: Mapping[str, Any]) -> Metrics:
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
