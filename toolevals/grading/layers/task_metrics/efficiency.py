"""Scores step efficiency: no more steps than needed, no call twice, no call that fails."""

from __future__ import annotations

from functools import lru_cache

from toolevals.grading.layers.task_metrics.calls import MadeCall, calls_of
from toolevals.grading.layers.task_metrics.scores import MetricScore, Part, weighted
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.reading.parsing.steps import AgentRun


def step_efficiency(run: AgentRun, task: Task) -> MetricScore:
    """Return 0.4 · min(1, needed/steps) + 0.3 · share of calls that repeat none + 0.3 · share that succeeded.

    Needed are the expected steps, else the limit. A call repeats an earlier one of the same tool and arguments that
    succeeded. Without a number of steps to compare with, and without calls, the parts are left out and the weights
    divided by their sum; without either there is no value.

    Source: `StepEfficiency` of ai-evaluation 1.1.0. Corrected: `negative_efficiency` (repeats were divided by steps,
    so that five equal calls in one step gave -0.2); `retry_counted_twice` (a retry of a failed call was redundant as
    well as failed); `unfounded_baseline` (up to ten steps were taken as good where nothing was known);
    `no_calls_full_marks` (a run without calls had the full marks for calls); `unflagged_failure` (an error that only
    the result's words tell counted as success).
    """
    return efficiency_of(calls_of(run), len(run.steps), task)


def efficiency_of(calls: tuple[MadeCall, ...], steps: int, task: Task) -> MetricScore:
    """Return the `step_efficiency` of a run with these calls and so many steps."""
    needed = task.expected_steps if task.expected_steps is not None else task.max_steps
    return _score(needed, steps, len(calls), _repeats(calls), sum([call.failed for call in calls]))


@lru_cache(maxsize=1024)
def _score(needed: int | None, steps: int, calls: int, repeated: int, failed: int) -> MetricScore:
    """Return the metric of these numbers. The same few come again and again."""
    return weighted(
        (
            Part(
                "steps",
                0.4,
                None if needed is None or not steps else min(1.0, max(0, needed) / steps),
                f"{steps} steps were taken where {needed} are enough",
            ),
            Part("repeats", 0.3, _share(repeated, calls), f"{repeated} of {calls} calls repeat an earlier one"),
            Part("failures", 0.3, _share(failed, calls), f"{failed} of {calls} calls failed"),
        ),
        "No call was made and no number of steps is given to compare with.",
    )


def _share(bad: int, calls: int) -> float | None:
    return 1 - bad / calls if calls else None


def _repeats(calls: tuple[MadeCall, ...]) -> int:
    succeeded: set[tuple[str, str]] = set()
    repeats = 0
    for call in calls:
        what = (call.name, call.key)
        repeats += what in succeeded
        if not call.failed:
            succeeded.add(what)
    return repeats
