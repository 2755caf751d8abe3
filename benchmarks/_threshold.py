"""Measure where the baseline's threshold comes from.

Single-tool requests of the BFCL, and other requests' tools beside them.

No example with several tools, and none without a right tool, is looked at: those are what the baseline is measured on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.values import ToolSpec
from toolevals.runs.baseline.ranking import relevances

CATEGORIES = ("simple_python", "simple_java", "simple_javascript", "live_simple")
# The nearest other tool is often as right as the request's own; the fifth nearest is wrong, but not absurd.
RANK = 4


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
