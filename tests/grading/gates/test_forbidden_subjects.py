"""Baseline agents and public benchmarks are named in no gate, wherever a gate names metrics."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.gates.documents import is_outside, read_gate
from toolevals.grading.values.problems import InvalidDocument


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"bounds": [{"metric": "public:bfcl", "min": 0.8}]}, "/bounds/0/metric"),
        ({"bounds": [{"metric": "outcome", "min": 0.8}, {"metric": "floor.none", "min": 0.1}]}, "/bounds/1/metric"),
        ({"bounds": [{"metric": "baseline_agent.none", "min": 0.1}]}, "/bounds/0/metric"),
        ({"assertions": ["bfcl.score >= 0.8 for at_least 90% of cases"]}, "/assertions/0"),
        ({"assertions": [{"template": "tau_bench", "conditions": ["pass_rate >= 0.4"]}]}, "/assertions/0/template"),
        ({"thresholds": {"overrides": {"benchmark:BFCL/live": 0.7}}}, "/thresholds/overrides/benchmark:BFCL~1live"),
        ({"regressions": [{"rule": "cases", "metrics": ["outcome", "tau2"]}]}, "/regressions/0/metrics/1"),
        ({"consistency": [{"metric": "public_benchmark", "min": 0.3}]}, "/consistency/0/metric"),
        (
            {
                "groups": [{"name": "all", "metrics": ["outcome", "public.bfcl"]}],
                "bounds": [{"metric": "all", "min": 1}],
            },
            "/groups/0/metrics/1",
        ),
    ],
)
def test_a_gate_refuses_to_name_one(document: dict[str, Any], pointer: str):
    with pytest.raises(InvalidDocument) as refused:
        read_gate(document)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]
    assert "no gate uses baseline agents and public benchmarks" in refused.value.problems[0].message


@pytest.mark.parametrize("name", ["outcome", "publicity", "judged:public", "floor_plan", "taut", "tool_name_f1"])
def test_other_names_stay_free(name):
    assert not is_outside(name)
    assert read_gate({"bounds": [{"metric": name, "min": 0.5}]}).metrics == (name,)
