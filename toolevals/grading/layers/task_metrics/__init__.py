"""Works out seven metrics of a whole run, by their public definitions with the known faults corrected."""

from toolevals.grading.layers.task_metrics.metrics import (
    TASK_METRICS,
    action_safety,
    goal_progress,
    reasoning_quality,
    step_efficiency,
    task_completion,
    task_metrics,
    tool_selection_accuracy,
    trajectory_score,
)
from toolevals.grading.layers.task_metrics.scores import PASSES_AT, MetricScore, Task

__all__ = [
    "PASSES_AT",
    "TASK_METRICS",
    "MetricScore",
    "Task",
    "action_safety",
    "goal_progress",
    "reasoning_quality",
    "step_efficiency",
    "task_completion",
    "task_metrics",
    "tool_selection_accuracy",
    "trajectory_score",
]
