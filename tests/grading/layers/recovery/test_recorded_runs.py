"""Recorded runs of two agents: what is known of their errors comes out."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from tests.grading.benchmark import needs_benchmark
from toolevals.grading.layers.recovery import Recovery, grade_recovery
from toolevals.grading.values import Message, ToolCall, Transcript

pytestmark = needs_benchmark


def _recoveries(name: str) -> list[Recovery]:
    path = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / name
    records = json.loads(gzip.decompress(path.read_bytes()))["records"]
    return [grade_recovery(Transcript(tuple(map(_message, record["traj"])))) for record in records]


def _message(message: dict[str, Any]) -> Message:
    calls = tuple(
        ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), call["id"])
        for call in message.get("tool_calls") or ()
    )
    return Message(message["role"], message.get("content"), calls, message.get("tool_call_id"))


def test_airline_runs():
    recoveries = _recoveries("tau_gpt-4o_airline.slim.json.gz")
    assert sum(recovery.errors for recovery in recoveries) == 73
    assert sum(recovery.errors > 0 for recovery in recoveries) == 36
    after_errors = (each.episode for recovery in recoveries for each in recovery.episodes if each.episode.errors)
    assert sum(episode.identical_retries for episode in after_errors) == 3
    assert Counter(recovery.verdict.status for recovery in recoveries) == {"unscored": 160, "passed": 35, "failed": 5}


def test_retail_runs_with_a_flaky_tool():
    episodes = [
        graded
        for recovery in _recoveries("tau_grok-3_retail_flaky503.slim.json.gz")
        for graded in recovery.episodes
        if graded.episode.error_class == "5xx"
    ]
    assert sum(graded.episode.errors for graded in episodes) == 123
    assert Counter(graded.episode.reaction for graded in episodes) == {
        "identical_retry": 85,
        "escalation": 3,
        "honest_failure": 6,
        "clarification": 1,
    }
    assert all(graded.score == 1 for graded in episodes)
