"""Measures the main loop on a public benchmark with two workers, and where the baseline's threshold comes from.

Needs `TOOLEVALS_BENCHMARK_DATA`. `python -m benchmarks.runs` prints the main loop in full. The threshold comes from
single-tool requests with other requests' tools next to them. No example with several tools, and none without a right
tool, is looked at for it: those are what the baseline is measured on.
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
from benchmarks.row import Row
from scripts.dev.environment import ROOT
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.values import ToolSpec
from toolevals.runs.baseline.agent import THRESHOLD
from toolevals.runs.baseline.ranking import relevances
from toolevals.serving.application import Application

CATEGORIES = ("simple_python", "simple_java", "simple_javascript", "live_simple")
# The nearest other tool is often as right as the request's own; the fifth nearest is wrong, but not absurd.
RANK = 4
WORKERS = 2
# Seconds for import, run and grading of 2,377 examples: someone waits for them.
IMPORT_SECONDS, RUN_SECONDS = 15, 15


def single_tool_requests(category: str) -> list[tuple[str, ToolSpec]]:
    """Return what the user says last and the one tool, for each entry of a category."""
    folder = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "bfcl"
    found = []
    with (folder / f"BFCL_v4_{category}.json").open(encoding="utf-8") as file:
        for line in file:
            row = bfcl_example(json.loads(line), {"ground_truth": []}, category)
            said = [message["content"] for message in row.input["messages"] if message["role"] == "user"]
            if said and isinstance(row.tools, list):
                found.append((said[-1], row.tools[0]))
    return found


def own_and_other() -> Iterator[tuple[float, float]]:
    """Yield, for each request, the relevance of its own tool and of the fifth most relevant other, offered alone."""
    for category in CATEGORIES:
        requests = single_tool_requests(category)
        for said, own in requests:
            others = [tool for _, tool in requests if tool.name != own.name]
            scores = relevances(said, others)
            order = sorted(range(len(others)), key=lambda place: -scores[place])
            yield relevances(said, [own])[0], relevances(said, [others[order[RANK]]])[0]


def best_threshold() -> tuple[float, float]:
    """Return the threshold with the highest balanced accuracy, and that accuracy."""
    pairs = list(own_and_other())
    own, other = sorted(pair[0] for pair in pairs), sorted(pair[1] for pair in pairs)

    def accuracy(threshold: float) -> float:
        called = sum(score >= threshold for score in own) / len(own)
        silent = sum(score < threshold for score in other) / len(other)
        return (called + silent) / 2

    best = max({*own, *other}, key=accuracy)
    return best, accuracy(best)


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
