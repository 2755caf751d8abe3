"""Works out seven metrics of a whole run, by their public definitions with the known faults corrected."""

from toolevals.grading.layers.task_metrics.completion import task_completion
from toolevals.grading.layers.task_metrics.efficiency import step_efficiency
from toolevals.grading.layers.task_metrics.progress import goal_progress
from toolevals.grading.layers.task_metrics.reasoning import reasoning_quality
from toolevals.grading.layers.task_metrics.safety import action_safety
from toolevals.grading.layers.task_metrics.scores import PASSES_AT, MetricScore
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.layers.task_metrics.tool_selection import tool_selection_accuracy
from toolevals.grading.layers.task_metrics.trajectory import TASK_METRICS, task_metrics, trajectory_score

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
