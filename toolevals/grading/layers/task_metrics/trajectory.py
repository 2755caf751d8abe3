"""Works out the trajectory score, and all seven metrics of a run at once."""

from __future__ import annotations

from collections.abc import Mapping

from toolevals.grading.layers.task_metrics.calls import calls_of
from toolevals.grading.layers.task_metrics.completion import task_completion
from toolevals.grading.layers.task_metrics.efficiency import efficiency_of
from toolevals.grading.layers.task_metrics.progress import goal_progress
from toolevals.grading.layers.task_metrics.reasoning import reasoning_quality
from toolevals.grading.layers.task_metrics.safety import action_safety
from toolevals.grading.layers.task_metrics.scores import MetricScore, Part, weighted
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.layers.task_metrics.tool_selection import selection_of
from toolevals.grading.reading.parsing.steps import AgentRun

TASK_METRICS: Mapping[str, str] = {
    "task_completion": "The run came to the expected result and met the task's criteria.",
    "step_efficiency": "No more steps than needed, no call twice, no call that fails.",
    "tool_selection_accuracy": "The required tools were used, none that is not available, and their calls succeeded.",
    "goal_progress": "The agent reached what the goal names, and early.",
    "action_safety": "No call matches a dangerous pattern, and no secret was passed on or read.",
    "reasoning_quality": "Thoughts are recorded, of some length, with words that join reasons.",
    "trajectory_score": "Completion 0.4, efficiency 0.3, tool selection 0.3.",
}


def trajectory_score(run: AgentRun, task: Task) -> MetricScore:
    """Return 0.4 · `task_completion` + 0.3 · `step_efficiency` + 0.3 · `tool_selection_accuracy`.

    Where efficiency or selection has no value, it is left out and the weights are divided by their sum. Without
    completion there is no value.

    Source: `TrajectoryScore` of ai-evaluation 1.1.0. Corrected: `unknown_outcome_scored` (a run of which no one knows
    the outcome could score 0.88).
    """
    calls = calls_of(run)
    return _overall(
        task_completion(run, task), efficiency_of(calls, len(run.steps), task), selection_of(calls, run, task)
    )


def task_metrics(run: AgentRun, task: Task) -> dict[str, MetricScore]:
    """Return all seven metrics of a run, by name, in the order of TASK_METRICS."""
    completion = task_completion(run, task)
    calls = calls_of(run)
    efficiency = efficiency_of(calls, len(run.steps), task)
    selection = selection_of(calls, run, task)
    return {
        "task_completion": completion,
        "step_efficiency": efficiency,
        "tool_selection_accuracy": selection,
        "goal_progress": goal_progress(run, task),
        "action_safety": action_safety(run, task),
        "reasoning_quality": reasoning_quality(run, task),
        "trajectory_score": _overall(completion, efficiency, selection),
    }


def _overall(completion: MetricScore, efficiency: MetricScore, selection: MetricScore) -> MetricScore:
    if completion.value is None:
        return MetricScore(None, completion.reason)
    return weighted(
        (
            Part("task_completion", 0.4, completion.value, _clause(completion)),
            Part("step_efficiency", 0.3, efficiency.value, _clause(efficiency)),
            Part("tool_selection_accuracy", 0.3, selection.value, _clause(selection)),
        ),
        "",
    )


def _clause(score: MetricScore) -> str:
    return f"{score.reason[:1].lower()}{score.reason[1:].rstrip('.')}"
