"""Holds thresholds as ordinary tests: `pytest test_agent.py`."""

import pytest
from agent import answer


@pytest.mark.toolevals(dataset="cases.jsonl", threshold=0.95)
def test_every_case_comes_out_right(toolevals):
    toolevals.ask(answer)


@pytest.mark.toolevals(dataset="cases.jsonl", threshold={"selection": 0.95, "tool_name_f1": 0.95}, gate="gate.yaml")
def test_it_picks_the_right_tool(toolevals):
    toolevals.ask(answer)


@pytest.mark.toolevals(dataset="cases.jsonl")
def test_any_metric_can_be_asserted_on(toolevals):
    toolevals.ask(answer)
    toolevals.require("arguments", 0.9)
    figure = toolevals.figure("tool_name_f1", "avg_score")
    assert figure.observed == 1
    assert figure.unscored == 0
