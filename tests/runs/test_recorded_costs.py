"""Recorded runs whose steps say their tokens and cost: what the tools took together is what the file says."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from fractions import Fraction
from math import isclose
from pathlib import Path

import pytest

from reports.costs.queries import grading_tool_costs
from tests.grading.benchmark import needs_benchmark
from tests.runs.building import uploaded_run, version_of
from toolevals.grading.reading.parsing.recorded import tau2_runs
from toolevals.runs.models import Grading

pytestmark = [needs_benchmark, pytest.mark.django_db]
FILE = "tau2_gpt-4.1_airline_1trial.json.gz"


def test_shares_of_all_tools_are_what_the_steps_with_calls_took(project, run_jobs):
    content = (Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / FILE).read_bytes()
    recorded = json.loads(gzip.decompress(content))
    runs = list(tau2_runs(recorded))
    names = {call.name for run in runs for call in run.transcript.calls if call.name}
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]
    version = version_of(
        project,
        [
            {
                "id": f"task-{run.task_id}",
                "input": {"messages": [{"role": "user", "content": f"Task {run.task_id}"}]},
                "tools": tools,
                "expectation": {"kind": "some_call"},
            }
            for run in runs
        ],
    )
    predictions = [
        {"id": f"task-{run.task_id}", "format": "native", "messages": run.transcript.to_document()["messages"]}
        for run in runs
    ]
    run = uploaded_run(project, version, predictions)
    run_jobs()
    costs = grading_tool_costs(Grading.objects.get(run=run))
    steps = [
        message
        for simulation in recorded["simulations"]
        for message in simulation["messages"]
        if message["role"] == "assistant" and message.get("tool_calls")
    ]
    calls = Counter(call["name"] for step in steps for call in step["tool_calls"])
    assert {row.tool: row.calls for row in costs.rows} == calls
    assert costs.calls > 100
    for found, of in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
        total = sum(step["usage"][of] for step in steps)
        assert total > 0
        assert isclose(getattr(costs, found), total, rel_tol=1e-12)
    assert costs.cost is not None
    assert isclose(costs.cost, sum(Fraction(step["cost"]) for step in steps), rel_tol=1e-12)
    # The file says when messages came and not what the tools took: nothing is made of that.
    assert not any(row.execution_ms.known or row.step_ms.known for row in costs.rows)
