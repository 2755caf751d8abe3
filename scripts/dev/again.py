"""Runs the few browser tests that failed again, alone: one that passes then is flaky, and is named."""

from __future__ import annotations

from collections.abc import Callable

from scripts.dev.results import Failure, Results

# So many failing tests may be the machine's; more are the change's.
MOST = 3


def to_run_again(failures: list[Failure]) -> list[str]:
    """Return the ids of the failed tests that may run once more.

    Only tests in a browser may, unless they are marked `once`, and none when more than `MOST` browser tests failed.
    """
    in_browser = list(dict.fromkeys(failure.node for failure in failures if failure.in_browser and failure.node))
    if len(in_browser) > MOST:
        return []
    once = {failure.node for failure in failures if failure.once}
    return [node for node in in_browser if node not in once]


def run_again(results: Results, passes: Callable[[str], bool]) -> dict[str, str]:
    """Run each such test once more by `passes`; return the flaky ones, id -> first traceback, counted as passed."""
    return {node: results.passed_again(node) for node in to_run_again(results.failures) if passes(node)}
