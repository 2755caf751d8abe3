"""The libraries whose verdicts are the vectors. Each is imported only when its own vectors are made."""

from __future__ import annotations

import asyncio
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any

from tests.grading.dialects.vectors.cases import Case, call_lists, trajectories
from tests.grading.dialects.vectors.function_calls import DEFINITIONS, function_calls

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Original:
    """A library: its distribution, the options that are tried on every case, and how it scores."""

    package: str
    options: tuple[Options, ...]
    cases: Callable[[], Iterable[Case]]
    scorer: Callable[[Options], Callable[[Case], Any]]


def stub(name: str, **attributes: Any) -> None:
    """Put an empty module in the place of one that the tested code imports and never uses."""
    module = types.ModuleType(name)
    vars(module).update(attributes)
    sys.modules[name] = module


def _ragas(options: Options) -> Callable[[Case], Any]:
    stub("langchain_community.chat_models.vertexai", ChatVertexAI=object)
    stub("langchain_community.llms", VertexAI=object)
    messages = import_module("ragas.messages")
    metrics = import_module("ragas.metrics.collections")
    chosen = dict(options)
    metric = getattr(metrics, chosen.pop("metric"))(**chosen)

    def calls(plain: Any) -> list[Any]:
        return [messages.ToolCall(name=each["name"], args=each["arguments"]) for each in plain]

    def score(case: Case) -> Any:
        wanted = calls(case.expected)
        talk = [messages.AIMessage(content="", tool_calls=calls(case.actual))]
        return asyncio.run(metric.ascore(user_input=talk, reference_tool_calls=wanted)).value

    return score


def _adk(options: Options) -> Callable[[Case], Any]:
    evaluator = import_module("google.adk.evaluation.trajectory_evaluator")
    cases = import_module("google.adk.evaluation.eval_case")
    metrics = import_module("google.adk.evaluation.eval_metrics")
    genai = import_module("google.genai.types")
    criterion = metrics.ToolTrajectoryCriterion(
        threshold=1.0,
        match_type=metrics.ToolTrajectoryCriterion.MatchType[options["match_type"]],
        ignore_args=options["ignore_args"],
    )
    chosen = metrics.EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
    metric = evaluator.TrajectoryEvaluator(eval_metric=chosen)

    def invocation(calls: Any) -> Any:
        uses = [genai.FunctionCall(name=each["name"], args=each["arguments"]) for each in calls]
        return cases.Invocation(
            user_content=genai.Content(parts=[]), intermediate_data=cases.IntermediateData(tool_uses=uses)
        )

    def score(case: Case) -> Any:
        return metric.evaluate_invocations([invocation(case.actual)], [invocation(case.expected)]).overall_score

    return score


def _deepeval(options: Options) -> Callable[[Case], Any]:
    # A key must be set although no model is asked.
    os.environ.update(OPENAI_API_KEY="none", DEEPEVAL_TELEMETRY_OPT_OUT="YES")
    case_module = import_module("deepeval.test_case")
    metrics = import_module("deepeval.metrics")
    chosen = dict(options)
    params = case_module.ToolCallParams
    compared = [params.INPUT_PARAMETERS] if chosen.pop("input_parameters", False) else []
    metric = metrics.ToolCorrectnessMetric(evaluation_params=compared, async_mode=False, model="gpt-4o", **chosen)

    def tools(calls: Any) -> list[Any]:
        return [case_module.ToolCall(name=each["name"], input_parameters=each["arguments"]) for each in calls]

    def score(case: Case) -> Any:
        test_case = case_module.LLMTestCase(
            input="x", actual_output="y", tools_called=tools(case.actual), expected_tools=tools(case.expected)
        )
        return float(metric.measure(test_case, _show_indicator=False))

    return score


def _agentevals(options: Options) -> Callable[[Case], Any]:
    evaluator = import_module("agentevals.trajectory.match").create_trajectory_match_evaluator(**options)
    return lambda case: evaluator(outputs=case.actual, reference_outputs=case.expected)["score"]


def _ai_evaluation(options: Options) -> Callable[[Case], Any]:
    root = import_module("importlib.metadata").distribution("ai-evaluation").locate_file("fi")
    for name in ("fi", "fi.evals", "fi.evals.metrics"):
        # Without the packages' own imports, which want far more than these metrics do.
        stub(name, __path__=[str(root.joinpath(*name.split(".")[1:]))])
    module = import_module("fi.evals.metrics.function_calling.metrics")
    chosen = dict(options)
    metric = getattr(module, chosen.pop("metric"))(chosen.pop("config", None))

    def score(case: Case) -> Any:
        given = {"response": case.actual, "expected_response": case.expected, "function_definitions": DEFINITIONS}
        return metric.evaluate([{**given, **chosen}]).eval_results[0].output

    return score


_CORRECTNESS_MODES: tuple[Options, ...] = (
    {},
    {"should_consider_ordering": True},
    {"should_exact_match": True},
    {"strict_mode": True},
)
_ARGUMENT_MODES: tuple[Options, ...] = tuple(
    {"tool_args_match_mode": mode} for mode in ("exact", "ignore", "subset", "superset")
)
_OVERRIDES: tuple[Mapping[str, Any], ...] = (
    {"f": "ignore", "g": "superset"},
    {"f": ["a"], "g": []},
    {"f": ["a.x", "b"]},
    {"f": "whatever"},
)
ORIGINALS: Mapping[str, Original] = {
    "ragas": Original(
        "ragas",
        (
            {"metric": "ToolCallAccuracy", "strict_order": True},
            {"metric": "ToolCallAccuracy", "strict_order": False},
            {"metric": "ToolCallF1"},
        ),
        lambda: call_lists(600),
        _ragas,
    ),
    "adk": Original(
        "google-adk",
        tuple(
            {"match_type": kind, "ignore_args": ignored}
            for kind, ignored in product(("EXACT", "IN_ORDER", "ANY_ORDER"), (False, True))
        ),
        lambda: call_lists(600),
        _adk,
    ),
    "deepeval": Original(
        "deepeval",
        tuple({"input_parameters": compared, **mode} for compared, mode in product((False, True), _CORRECTNESS_MODES)),
        lambda: call_lists(600),
        _deepeval,
    ),
    "agentevals": Original(
        "agentevals",
        tuple(
            {"trajectory_match_mode": mode, **rest}
            for mode, rest in product(
                ("strict", "unordered", "subset", "superset"),
                (
                    *_ARGUMENT_MODES,
                    *({"tool_args_match_overrides": override} for override in _OVERRIDES),
                ),
            )
        ),
        lambda: trajectories(400),
        _agentevals,
    ),
    "ai_evaluation": Original(
        "ai-evaluation",
        (
            {"metric": "FunctionNameMatch"},
            *(
                {"metric": metric, "strict_type_check": strict, "ignore_extra_params": extras}
                for metric, strict, extras in product(
                    ("FunctionCallExactMatch", "ParameterValidation", "FunctionCallAccuracy"),
                    (False, True),
                    (False, True),
                )
            ),
            {"metric": "FunctionCallAccuracy", "order_matters": True},
            {
                "metric": "FunctionCallAccuracy",
                "config": {"name_weight": 0.5, "presence_weight": 0.1, "value_weight": 0.4},
            },
        ),
        lambda: function_calls(500),
        _ai_evaluation,
    ),
}


def verdict(score: Callable[[Case], Any], case: Case) -> Any:
    """Return the library's score of a case, or `{"error": ...}` with the name of what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return score(case)
    except Exception as error:  # noqa: BLE001 (whatever it raises is its verdict)
        return {"error": type(error).__name__}
