"""The source of the baseline's threshold: single-tool requests with other requests' tools next to them.

No example with several tools, and none without a right tool, is looked at for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.grading.benchmark import benchmark_rows, needs_benchmark
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.values import ToolSpec
from toolevals.runs.baseline.agent import THRESHOLD
from toolevals.runs.baseline.ranking import relevances

pytestmark = needs_benchmark
CATEGORIES = ("simple_python", "simple_java", "simple_javascript", "live_simple")
# The nearest other tool is often as right as the request's own; the fifth nearest is wrong, but not absurd.
RANK = 4


def test_the_threshold_separates_best_a_requests_own_tool_from_the_fifth_nearest_other():
    pairs = [pair for category in CATEGORIES for pair in own_and_other(category)]
    own, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def balanced_accuracy(threshold: float) -> float:
        called = sum(score >= threshold for score in own) / len(own)
        silent = sum(score < threshold for score in other) / len(other)
        return (called + silent) / 2

    best = max({*own, *other}, key=balanced_accuracy)
    assert abs(best - THRESHOLD) < 0.005
    assert balanced_accuracy(THRESHOLD) > 0.8


def own_and_other(category: str) -> Iterator[tuple[float, float]]:
    """Yield the relevance of a request's own tool and of the fifth most relevant other, each offered alone."""
    requests = list(single_tool_requests(category))
    for said, own in requests:
        others = [tool for _, tool in requests if tool.name != own.name]
        scores = relevances(said, others)
        fifth = sorted(range(len(others)), key=lambda place: -scores[place])[RANK]
        yield relevances(said, [own])[0], relevances(said, [others[fifth]])[0]


def single_tool_requests(category: str) -> Iterator[tuple[str, ToolSpec]]:
    """Yield what the user says last and the one tool of each entry."""
    for entry in benchmark_rows(f"BFCL_v4_{category}.json"):
        row = bfcl_example(entry, {"ground_truth": []}, category)
        said = [message["content"] for message in row.input["messages"] if message["role"] == "user"]
        if said and isinstance(row.tools, list):
            yield said[-1], row.tools[0]
