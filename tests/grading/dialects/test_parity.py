"""Every dialect gives its original's verdict on every vector; `vectors` says how they were made."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.grading.dialects.vectors.function_calls import DEFINITIONS
from toolevals.grading.dialects import adk, ragas
from toolevals.grading.dialects.agentevals import TrajectoryMatch
from toolevals.grading.dialects.ai_evaluation import FunctionCallMetrics, FunctionDefinition, Parameter
from toolevals.grading.dialects.deepeval import ToolCorrectness
from toolevals.grading.dialects.plain_calls import attempt

FOLDER = Path(__file__).parent / "data"
VERSIONS = {
    "adk": ("google-adk", "2.13.0"),
    "agentevals": ("agentevals", "0.0.9"),
    "ai_evaluation": ("ai-evaluation", "1.1.0"),
    "deepeval": ("deepeval", "4.3.1"),
    "ragas": ("ragas", "0.4.3"),
}


@cache
def vectors(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    head, *rows = map(json.loads, gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).splitlines())
    return head, rows


def scorer(name: str, options: dict[str, Any]) -> Callable[[Any, Any], Any]:
    chosen = dict(options)
    if name == "adk":
        return lambda expected, actual: adk.tool_trajectory_avg_score([(expected, actual)], **chosen)[0]
    if name == "agentevals":
        return TrajectoryMatch(**chosen).score
    if name == "deepeval":
        return ToolCorrectness(**chosen).score
    metric = chosen.pop("metric")
    if name == "ragas":
        named = {"ToolCallAccuracy": ragas.tool_call_accuracy, "ToolCallF1": ragas.tool_call_f1}[metric]
        return lambda expected, actual: named(expected, actual, **chosen)
    names = {
        "FunctionNameMatch": "function_name_match",
        "FunctionCallExactMatch": "function_call_exact_match",
        "ParameterValidation": "parameter_validation",
        "FunctionCallAccuracy": "function_call_accuracy",
    }
    metrics = FunctionCallMetrics(**chosen.pop("config", {}), **chosen)
    definitions = [
        FunctionDefinition(each["name"], tuple(Parameter(**spec) for spec in each.get("parameters", ())))
        for each in DEFINITIONS
    ]
    return lambda expected, actual: metrics.score(names[metric], expected, actual, definitions)


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, dict):
        return isinstance(ours, Exception) and type(ours).__name__ == theirs["error"]
    # Some originals sum over a set, whose order decides the last digit.
    return not isinstance(ours, Exception) and ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", VERSIONS)
def test_every_vector_is_reproduced(name):
    head, rows = vectors(name)
    assert (head["package"], head["version"]) == VERSIONS[name]
    scorers = [scorer(name, options) for options in head["options"]]
    different = [
        (options, row["expected"], row["actual"], theirs, ours)
        for row in rows
        for options, score, theirs in zip(head["options"], scorers, row["scores"], strict=True)
        if not same(ours := attempt(lambda: score(row["expected"], row["actual"])), theirs)  # noqa: B023 (called at once)
    ]
    assert different == []


@pytest.mark.parametrize("name", VERSIONS)
def test_the_vectors_have_every_kind_of_verdict(name):
    _, rows = vectors(name)
    kinds = Counter(
        next(iter(score.values())) if isinstance(score, dict) else score in (0, 1)
        for row in rows
        for score in row["scores"]
    )
    assert len(rows) > 400
    assert kinds[True] > 300
    assert kinds["ValidationError"]
    assert kinds[False] or name in ("adk", "agentevals")
