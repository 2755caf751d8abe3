"""Scores task completion: a final step, the expected result, the success criteria."""

from __future__ import annotations

from toolevals.grading.layers.task_metrics.scores import MetricScore, Part, weighted
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.layers.task_metrics.words import holds_words, keywords_of, share_found, text_of
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.matching.value_differences import same
from toolevals.grading.reading.parsing.steps import AgentRun

# An answer that holds the expected text and says more.
HELD = 0.9
# A criterion is met from this share of its keywords on.
CRITERION_MET = 0.5


def task_completion(run: AgentRun, task: Task) -> MetricScore:
    """Return 0.2 · ended with a final step + 0.5 · result as expected + 0.3 · share of criteria met.

    The result counts 1 where it equals the expected one (numbers by value, text without regard to case and white
    space), 0.9 where the expected words stand in it, else the share of expected keywords in it. A criterion is met
    where at least half of its keywords stand in the result or in what the tools answered. What is not known is left
    out and the weights are divided by their sum; with neither an expected result nor criteria there is no value.

    Source: `TaskCompletion` of ai-evaluation 1.1.0. Corrected: `completion_without_evidence` (0.3 for any result and
    0.2 for no criteria were given away, and no more than 0.9 could be reached without criteria);
    `substring_match` ("no" stood in "unknown", and an answer that is a piece of the expected text got 0.9);
    `thoughts_as_evidence` (what the agent thought could meet a criterion); `empty_criterion_met`; `typed_equality`
    (True equalled 1, and 5 did not equal "5").
    """
    criteria = [keywords for criterion in task.success_criteria if (keywords := keywords_of(criterion))]
    result = task.result_met
    if result is None and task.expected_result is not None:
        result = _agreement(run.final_result, task.expected_result)
    if result is None and not criteria:
        return MetricScore(None, "Neither an expected result nor a success criterion is given.")
    met = _share_met(run, criteria) if criteria else None
    ended = any(step.is_final for step in run.steps)
    return weighted(
        (
            Part("final_step", 0.2, float(ended), "the run never came to a final step"),
            Part("result", 0.5, result, "the final result is not the expected one"),
            Part("criteria", 0.3, met, _unmet(met, len(criteria))),
        ),
        "",
    )


def _agreement(actual: object, expected: object) -> float:
    if actual is None:
        return 0.0
    if _equal(actual, expected):
        return 1.0
    said, wanted = text_of(actual), text_of(expected)
    if " ".join(said.split()).casefold() == " ".join(wanted.split()).casefold():
        return 1.0
    if not isinstance(expected, str) and not isinstance(actual, str):
        return 0.0
    keywords = keywords_of(wanted)
    if not keywords:
        return 0.0
    return HELD if holds_words(said, wanted) else min(HELD, share_found(keywords, said))


def _equal(actual: object, expected: object) -> bool:
    if isinstance(actual, dict | list | tuple) or isinstance(expected, dict | list | tuple):
        return same(actual, expected)
    return PROFILES["loose"].equal(actual, expected)


def _share_met(run: AgentRun, criteria: list[tuple[str, ...]]) -> float:
    evidence = [text_of(run.final_result), *(step.observation or "" for step in run.steps)]
    return sum(share_found(keywords, *evidence) >= CRITERION_MET for keywords in criteria) / len(criteria)


def _unmet(met: float | None, criteria: int) -> str:
    missed = criteria - round((met or 0) * criteria)
    return f"{missed} of {criteria} success criteria {'is' if missed == 1 else 'are'} not met"
