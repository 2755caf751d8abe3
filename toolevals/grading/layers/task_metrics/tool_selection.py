"""Scores tool-selection accuracy over a whole run."""

from __future__ import annotations

from collections.abc import Sized
from functools import lru_cache

from toolevals.grading.layers.task_metrics.calls import MadeCall, calls_of
from toolevals.grading.layers.task_metrics.scores import MetricScore, Part, weighted
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.reading.parsing.steps import AgentRun


def tool_selection_accuracy(run: AgentRun, task: Task) -> MetricScore:
    """Return 0.4 · required tools used + 0.3 · used tools that are available + 0.3 · calls that succeeded.

    The first two are shares of different names. What is not known is left out and the weights are divided by their
    sum. Without a call, the value is 0 where tools are required, 1 where the task says that none is, else none.
    Arguments play no part: they have their own layer.

    Source: `ToolSelectionAccuracy` of ai-evaluation 1.1.0. Corrected: `required_tools_ignored` (1.0 where nothing was
    called, whatever was required); `empty_tool_list` (no tool available was read as no one knows);
    `unflagged_failure`, as in `step_efficiency`.
    """
    return selection_of(calls_of(run), run, task)


def selection_of(calls: tuple[MadeCall, ...], run: AgentRun, task: Task) -> MetricScore:
    """Return the `tool_selection_accuracy` of a run whose calls these are."""
    used = {call.name for call in calls}
    required = None if task.required_tools is None else frozenset(task.required_tools)
    missing = sorted((required or frozenset()) - used)
    if not calls and not missing:
        known = required is not None
        return MetricScore(
            1.0 if known else None,
            "" if known else "No call was made, and the example does not say whether one is expected.",
        )
    available = None if run.available_tools is None else frozenset(run.available_tools)
    unavailable = sorted(used - available) if available is not None else []
    failed = sum([call.failed for call in calls])
    shares = (
        _share(len(missing), required),
        _share(len(unavailable), None if available is None else used),
        _share(failed, calls),
    )
    faults = (
        f"required and not called: {_named(missing)}" if missing else "",
        f"called and not available: {_named(unavailable)}" if unavailable else "",
        f"{failed} of {len(calls)} calls failed" if failed else "",
    )
    return _score(shares, faults)


def _share(bad: int, of: Sized | None) -> float | None:
    return 1 - bad / len(of) if of else None


@lru_cache(maxsize=1024)
def _score(shares: tuple[float | None, ...], faults: tuple[str, ...]) -> MetricScore:
    """Return the metric of the shares of its parts and of what to mend in each. The same few come again and again."""
    return weighted(tuple(map(Part, ("required", "available", "succeeded"), (0.4, 0.3, 0.3), shares, faults)), "")


def _named(tools: list[str]) -> str:
    shown = ", ".join(f"`{tool[:80]}`" for tool in tools[:3])
    return shown if len(tools) <= 3 else f"{shown} and {len(tools) - 3} more"
