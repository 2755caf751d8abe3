"""Tool-selection accuracy over a whole run."""

from __future__ import annotations

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
    called, whatever was required); `empty_tool_list` (no tool available was read as nobody knows);
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
            1.0 if known else None, "" if known else "No call was made, and nobody said whether one is due."
        )
    available = None if run.available_tools is None else frozenset(run.available_tools)
    unavailable = sorted(used - available) if available is not None else []
    failed = sum(call.failed for call in calls)
    return weighted(
        (
            Part(
                "required",
                0.4,
                1 - len(missing) / len(required) if required else None,
                f"required and not called: {_named(missing)}",
            ),
            Part(
                "available",
                0.3,
                None if available is None or not used else 1 - len(unavailable) / len(used),
                f"called and not available: {_named(unavailable)}",
            ),
            Part(
                "succeeded", 0.3, 1 - failed / len(calls) if calls else None, f"{failed} of {len(calls)} calls failed"
            ),
        ),
        "",
    )


def _named(tools: list[str]) -> str:
    shown = ", ".join(f"`{tool[:80]}`" for tool in tools[:3])
    return shown if len(tools) <= 3 else f"{shown} and {len(tools) - 3} more"
