"""Scores goal progress: how much of what the goal speaks of the run has come to."""

from __future__ import annotations

from functools import lru_cache

from toolevals.grading.layers.task_metrics.scores import MetricScore
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.layers.task_metrics.words import found_in, goal_keywords, text_of
from toolevals.grading.reading.parsing.steps import AgentRun, Step
from toolevals.grading.values import ToolCall

_LONGEST_NAME = 200


def goal_progress(run: AgentRun, task: Task) -> MetricScore:
    """Return 0.3 · mean + 0.5 · last + 0.2 · greatest progress over the steps.

    Progress after a step is the share of the goal's keywords that stand in what was done and seen so far: actions,
    calls and what the tools answered. Keywords are those of the goal and of the expected outcome: content words, and
    identifiers as wholes. It never falls. Without any there is no value.

    Source: `GoalProgress` of ai-evaluation 1.1.0. Corrected: `unknown_goal_half_marks` (0.5 without keywords, now no
    value); `no_progress_credit` (0.2 for none, now 0); `restated_goal` (a thought that repeats the goal was full
    progress); `progress_not_added_up` (a step counted alone, so that two halves made a half); `joined_names`
    (`get_order` was one word that no goal holds); `silent_steps` (a step without words was left out of the mean);
    `empty_keywords` (pronouns, courtesies and the halves of an identifier counted as what the goal speaks of).
    """
    goal = goal_keywords(f"{run.goal or ''} {task.expected_outcome}")
    if not goal:
        return MetricScore(None, "There is no goal to make progress towards.")
    if not run.steps:
        return MetricScore(0.0, "No step was taken.")
    left = frozenset(goal)
    progress: list[float] = []
    for step in run.steps:
        if left:
            left -= found_in(left, *_done_and_seen(step))
        progress.append(1 - len(left) / len(goal))
    mean, last = sum(progress) / len(progress), progress[-1]
    value = min(1.0, 0.3 * mean + 0.5 * last + 0.2 * last)
    missing = ", ".join(word[:40] for word in goal if word in left)
    reason = f"The run never came to: {missing[:200]}." if missing else _late(progress)
    return MetricScore(value, reason, {"mean": min(1.0, mean), "last": last})


def _late(progress: list[float]) -> str:
    arrived = progress.index(progress[-1]) + 1
    return f"The run came to all of its goal only at step {arrived} of {len(progress)}." if arrived > 1 else ""


def _done_and_seen(step: Step) -> list[str]:
    texts = [step.action or "", step.observation or ""]
    for call in step.calls:
        texts.append(_split((call.name or "")[:_LONGEST_NAME]))
        if isinstance(call, ToolCall):
            texts.append(text_of(call.arguments))
    return texts


@lru_cache(maxsize=1024)
def _split(name: str) -> str:
    """Return a tool's name as words: `getOrder` and `get_order` speak of an order."""
    spaced = "".join(f" {letter}" if letter.isupper() else letter for letter in name)
    return f"{name} {spaced}"
