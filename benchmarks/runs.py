"""Measures the main loop on a public benchmark with two workers, and where the baseline's threshold comes from.

Needs `TOOLEVALS_BENCHMARK_DATA`. `python -m benchmarks.runs` prints the main loop in full.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._output import stdout_for_rows_alone
from benchmarks._threshold import best_threshold
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from toolevals.runs.baseline.agent import THRESHOLD
from toolevals.serving.application import Application

WORKERS = 2
# Seconds for import, run and grading of 2,377 examples: somebody waits for them.
IMPORT_SECONDS, RUN_SECONDS = 15, 15


def rows() -> Iterator[Row]:
    """Measure the main loop and the threshold. Raises KeyError without the data."""
    found = main_loop()
    yield Row("BFCL import", found["import"], "s", target=IMPORT_SECONDS, better="lower")
    yield Row("BFCL run and grading", found["second"], "s", target=RUN_SECONDS, better="lower")
    yield Row("BFCL run and grading, rate", found["examples"] / found["second"], "examples/s")
    # Always calling nothing gets all of irrelevance right: the least that a baseline must beat.
    counts = found["counts"]
    silent = sum(counts[name]["selection"][1] for name in ("irrelevance", "live_irrelevance"))
    passed, scored = counts["all"]["selection"]
    yield Row("baseline, right tool or none", passed / scored, "share", baseline=silent / scored)
    threshold, accuracy = best_threshold()
    yield Row("baseline threshold, balanced accuracy", accuracy, "share", baseline=0.5)
    yield Row("baseline threshold, off its best value by", abs(threshold - THRESHOLD), "", target=0.005, better="lower")


def main_loop() -> dict[str, Any]:
    """Return what `_main_loop` measured in a fresh installation with two worker processes."""
    if "TOOLEVALS_BENCHMARK_DATA" not in os.environ:
        raise KeyError("TOOLEVALS_BENCHMARK_DATA must name the folder of the public benchmarks")
    with (
        stdout_for_rows_alone(),
        tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder,
        Application(python=sys.executable, data=Path(folder)) as application,
    ):
        application.prepare(sample=False)
        for number in range(WORKERS):
            application.worker_start(f"worker-{number}")
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks._main_loop"],
            cwd=ROOT,
            env=application.environment,
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, Any] = json.loads(result.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(main_loop(), indent=2))
