"""Whatever JSON stands for calls: a score, or an exception of the kinds that become an error verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.strategies import json_values
from toolevals.grading.dialects import adk, ragas
from toolevals.grading.dialects.agentevals import TrajectoryMatch
from toolevals.grading.dialects.ai_evaluation import METRICS, FunctionCallMetrics, FunctionDefinition, Parameter
from toolevals.grading.dialects.deepeval import ToolCorrectness
from toolevals.grading.dialects.plain_calls import attempt

# Half JSON of any form, half with the keys that the readers look for.
keys = st.sampled_from(
    ["name", "arguments", "args", "parameters", "function", "tool_calls", "role", "messages", "type", "output"]
)
shaped = st.recursive(
    json_values | st.sampled_from(["assistant", "user", "f", "MCP", "{}", '{"a": 1}', "f(a=1)", "f(a={[1]})"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)
lists = st.lists(shaped, max_size=3)
few = settings(max_examples=40)
# Text that looks like Python, to the parser's edges.
python = st.text(st.sampled_from("f(x=1,'{}[]-*\\\n\0# :lambda)"), max_size=20)


def scored(found: Any) -> bool:
    return isinstance(found, Exception) or 0 <= found <= 1


@few
@given(lists, lists, st.booleans())
def test_ragas(expected, actual, strict):
    assert scored(attempt(lambda: ragas.tool_call_accuracy(expected, actual, strict_order=strict)))
    assert scored(attempt(lambda: ragas.tool_call_f1(expected, actual)))


@few
@given(lists, lists, st.sampled_from(["EXACT", "IN_ORDER", "ANY_ORDER"]), st.booleans())
def test_adk(expected, actual, match_type, ignored):
    assert scored(attempt(lambda: adk.tool_trajectory(expected, actual, match_type=match_type, ignore_args=ignored)))


@few
@given(lists, lists, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_deepeval(expected, actual, compared, exact, ordered, strict):
    metric = ToolCorrectness(compared, compared, exact, ordered, strict_mode=strict)
    assert scored(attempt(lambda: metric.score(expected, actual)))


@few
@given(
    shaped,
    shaped,
    st.sampled_from(["strict", "unordered", "subset", "superset"]),
    st.sampled_from(["exact", "ignore", "subset", "superset"]),
    st.none() | st.dictionaries(st.just("f"), shaped),
)
def test_agentevals(expected, actual, mode, arguments, overrides):
    evaluator = TrajectoryMatch(mode, arguments, overrides)
    assert scored(attempt(lambda: evaluator.score(expected, actual)))


@few
@given(shaped | python, shaped | python, st.sampled_from(METRICS), st.booleans())
def test_ai_evaluation(expected, actual, metric, flag):
    metrics = FunctionCallMetrics(flag, flag, flag)
    definitions = [
        FunctionDefinition("f", (Parameter("x", "integer", enum=[1]), Parameter("y", "Odd", required=False)))
    ]
    assert scored(attempt(lambda: metrics.score(metric, expected, actual, definitions)))


@pytest.mark.parametrize(
    "text", ["f(" * 5_000, "-" * 50_000, "f(" + "[" * 90_000, "f(x=" + "(" * 150 + ")" * 150 + ")", "x" * 200_000]
)
def test_text_that_is_deep_or_long_is_an_answer_too(text):
    found = attempt(lambda: FunctionCallMetrics().score("function_name_match", "f()", text))
    assert scored(found)


def test_an_invocation_mean_is_over_all_of_them():
    right, wrong = ([{"name": "f"}], [{"name": "f"}]), ([{"name": "f"}], [{"name": "g"}])
    assert adk.tool_trajectory_avg_score([right, wrong], threshold=0.5) == (0.5, True)
    assert adk.tool_trajectory_avg_score([right, wrong]) == (0.5, False)
    assert adk.tool_trajectory_avg_score([]) == (None, None)


def test_outputs_and_the_threshold_count_where_they_are_asked_for():
    said = [{"name": "f", "output": 1}]
    assert ToolCorrectness(output=True).score(said, [{"name": "f", "output": 2}]) == 0
    assert ToolCorrectness(output=True, should_exact_match=True).score(said, [{"name": "f", "output": 1.0}]) == 1
    assert ToolCorrectness().score(said, [{"name": "f", "type": "MCP"}]) == 0
    assert ToolCorrectness().passes(0.5)
    assert not ToolCorrectness(strict_mode=True).passes(0.99)
