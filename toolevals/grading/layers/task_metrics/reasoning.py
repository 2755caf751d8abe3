"""Scores reasoning quality: whether thoughts are there, of some length, with words that join reasons."""

from __future__ import annotations

import re

from toolevals.grading.layers.task_metrics.scores import MetricScore, Part, weighted
from toolevals.grading.layers.task_metrics.task import Task
from toolevals.grading.layers.task_metrics.words import LONGEST_TEXT
from toolevals.grading.reading.parsing.steps import AgentRun

INDICATORS = (
    "because", "therefore", "since", "so", "thus", "need to", "should", "will", "going to",
    "first", "then", "next", "finally", "if", "however", "but", "although",
)  # fmt: skip
_INDICATOR = re.compile(rf"\b(?:{'|'.join(INDICATORS)})\b")
_SPACES = re.compile(r"\s+")
ENOUGH_THOUGHTS = 3


def reasoning_quality(run: AgentRun, task: Task) -> MetricScore:
    """Return 0.3 · length + 0.4 · indicators + 0.3 · progression of the thoughts.

    Length goes by the mean number of words: below 5 0.4, below 10 0.7, below 30 1, else 0.8. Indicators are different
    joining words (`INDICATORS`) in each thought, two a thought being enough. Progression is thoughts of three, or of
    the steps where there are fewer. It measures form: whether a thought is right takes a judge.

    Source: `ReasoningQuality` of ai-evaluation 1.1.0. Corrected: `substring_indicators` ("so" stood in "reason", "if"
    in "specific"); `thoughts_not_recorded` (0.3 or 0.5 without a thought, now no value); `short_runs_punished` (one
    thought in a run of one step was a third of enough).
    """
    thoughts = [step.thought[:LONGEST_TEXT] for step in run.steps if step.thought and step.thought.strip()]
    if not thoughts:
        return MetricScore(None, "No thought is recorded.")
    words = sum(len(thought.split()) for thought in thoughts) / len(thoughts)
    joined = sum(len(set(_INDICATOR.findall(_SPACES.sub(" ", thought.lower())))) for thought in thoughts)
    enough = min(ENOUGH_THOUGHTS, len(run.steps))
    return weighted(
        (
            Part("length", 0.3, _length(words), f"thoughts have {words:.0f} words on average, where 10 to 29 are best"),
            Part(
                "indicators",
                0.4,
                min(1.0, joined / (2 * len(thoughts))),
                f"{joined} joining words are in {len(thoughts)} thoughts, where two in each are enough",
            ),
            Part(
                "progression",
                0.3,
                min(1.0, len(thoughts) / enough),
                f"{len(thoughts)} thoughts are recorded where {enough} are enough",
            ),
        ),
        "",
    )


def _length(words: float) -> float:
    if words < 5:
        return 0.4
    if words < 10:
        return 0.7
    return 1.0 if words < 30 else 0.8
