"""Error recovery: what an agent did when a tool failed, or answered with nothing or only a part."""

from toolevals.grading.recovery.episodes import REACTIONS, Episode, Reaction
from toolevals.grading.recovery.events import arguments_key
from toolevals.grading.recovery.following import LOOP_GUARD
from toolevals.grading.recovery.grading import RETRY_CAP, EpisodeGrade, Recovery, grade_recovery
from toolevals.grading.troubles import ERROR_CLASSES, TRANSIENT, ErrorClass, Trouble, trouble_in

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
