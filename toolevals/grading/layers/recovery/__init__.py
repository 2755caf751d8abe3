"""Grades error recovery: what an agent did when a tool failed, or answered with nothing or only a part."""

from toolevals.grading.layers.recovery.episodes import LOOP_GUARD, REACTIONS, Episode, Reaction
from toolevals.grading.layers.recovery.grading import RETRY_CAP, EpisodeGrade, Recovery, grade_recovery
from toolevals.grading.layers.troubles import ERROR_CLASSES, TRANSIENT, ErrorClass, Trouble, trouble_in
from toolevals.grading.values.call_results import arguments_key

__all__ = [
    "ERROR_CLASSES",
    "LOOP_GUARD",
    "REACTIONS",
    "RETRY_CAP",
    "TRANSIENT",
    "Episode",
    "EpisodeGrade",
    "ErrorClass",
    "Reaction",
    "Recovery",
    "Trouble",
    "arguments_key",
    "grade_recovery",
    "trouble_in",
]
