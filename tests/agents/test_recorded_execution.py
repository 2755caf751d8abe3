"""Recorded retail runs: their results, and the benchmark's own outcome, come out of replaying their calls."""

import gzip
import json
import os
from pathlib import Path

from benchmarks import execution
from tests.grading.benchmark import needs_benchmark
from toolevals.agents.replay import Executions

# Trajectories that are looked at; `./dev bench execution` looks at all.
SOME = 25


@needs_benchmark
def test_recorded_results_and_outcomes_are_reproduced():
    folder = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau"
    database = json.loads(gzip.decompress((folder / execution.DATABASE).read_bytes()))
    recorded = list(execution.recorded_runs(folder))[:SOME]
    right, total = execution.results_reproduced(database, recorded)
    assert right == total > 100
    executions = Executions(execution.Retail(database))
    assert [execution.outcome(case, executions) for case in recorded] == [case.success for case in recorded]
    assert {case.success for case in recorded} == {True, False}
