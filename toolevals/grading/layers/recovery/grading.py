"""Grades error recovery: each episode 1, 0.5 or 0, and their mean; none where no rule can tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from toolevals.grading.layers.recovery.episodes import LOOP_GUARD, Episode, episodes_of
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.verdicts import Verdict
from toolevals.json_types import JsonObject

RETRY_CAP = 3


@dataclass(frozen=True, slots=True)
class EpisodeGrade:
    """One episode and its score: 1 recovered or rightly reported, 0.5 in part, 0 looped or hid it, None unscored.

    `reason` is one sentence, empty where the score is 1; of an unscored one it is the question that a judge is asked.
    """

    episode: Episode
    score: float | None
    reason: str = ""

    def to_document(self) -> JsonObject:
        """Return the normal form: the episode's fields, the score and the reason."""
        return self.episode.to_document() | {"score": self.score, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Recovery:
    """The verdict on a transcript and the episodes behind it, in order."""

    verdict: Verdict
    episodes: tuple[EpisodeGrade, ...] = ()

    @property
    def loops(self) -> bool:
        """Return whether any episode went on in a loop."""
        return any(graded.episode.looped for graded in self.episodes)

    @property
    def errors(self) -> int:
        """Return how many answers were errors."""
        return sum(graded.episode.errors for graded in self.episodes)


NO_EPISODE = Verdict("unscored", None, "No tool failed, so there was nothing to recover from.")


def grade_recovery(
    transcript: Transcript,
    *,
    reactions: Collection[str] = (),
    tools: Mapping[str, ToolSpec] | None = None,
    retry_cap: int = RETRY_CAP,
    loop_guard: int = LOOP_GUARD,
) -> Recovery:
    """Grade how an agent dealt with errors and with empty and partial answers.

    `reactions` are the right ones (`Expectation.reactions`); none means that any good one will do. `tools`, by name,
    say which tools only read and which should answer with something. The value is the mean of the episodes' scores;
    the verdict passes where each is 1, and is unscored where there is no episode. Source: the four-layer stack's
    recovery rubric (1.0 read the error and corrected, 0.5 partial, 0.0 looped on the same input or hid the failure)
    and its caps (3 retries; 6 mean that the loop guard is missing).
    """
    found = episodes_of(transcript, tools or {}, loop_guard)
    if not found:
        return Recovery(NO_EPISODE)
    graded = tuple(_graded(episode, frozenset(reactions), retry_cap, loop_guard) for episode in found)
    scored = [each for each in graded if each.score is not None]
    if not scored:
        return Recovery(Verdict("unscored", None, graded[0].reason), graded)
    scores = [each.score or 0.0 for each in scored]
    worst = scored[scores.index(min(scores))]
    if worst.score != 1:
        return Recovery(Verdict("failed", sum(scores) / len(scores), worst.reason), graded)
    if len(scored) < len(graded):
        return Recovery(Verdict("unscored", None, next(each.reason for each in graded if each.score is None)), graded)
    return Recovery(Verdict("passed", 1.0, ""), graded)


def _graded(episode: Episode, right: frozenset[str], retry_cap: int, loop_guard: int) -> EpisodeGrade:
    what = (
        f"`{episode.tool[:_LONGEST_NAME]}` {_HOW_IT_FAILED.get(episode.error_class, f'failed ({episode.error_class})')}"
    )
    if (fault := _hidden(episode) or _looped(episode, retry_cap, loop_guard)) is not None:
        return EpisodeGrade(episode, 0.0, f"{what}, and {fault}.")
    if episode.reaction == "unclear":
        return EpisodeGrade(episode, None, f"{what}: did the agent deal with that rightly by what it said?")
    if (fault := _in_part(episode, right, retry_cap)) is not None:
        return EpisodeGrade(episode, 0.5, f"{what}, and {fault}.")
    return EpisodeGrade(episode, 1.0)


_LONGEST_NAME = 100
_HOW_IT_FAILED = {
    "empty": "found nothing",
    "partial": "answered in part",
    "timeout": "timed out",
    "unknown": "failed",
}


def _hidden(episode: Episode) -> str | None:
    if episode.reaction == "fabricated_success":
        return f"the agent told the user that it had worked (“{episode.words}”): let it report what the tool answered"
    if episode.reaction == "gave_up":
        return "the agent neither tried anything else nor told the user: let it correct the call, ask, or say so"
    return None


def _looped(episode: Episode, retry_cap: int, loop_guard: int) -> str | None:
    if episode.looped or episode.unasked_retries >= loop_guard:
        return f"the agent tried again {_times(episode)}: the guard against loops is missing"
    if episode.reaction == "identical_retry" and not episode.recovered:
        return "the agent only sent the same call again: let it read the error and correct the call, ask, or say so"
    if episode.futile_repeats > 1 and episode.futile_repeats == episode.retries and not episode.recovered:
        return (
            "the agent sent the same call again and again: let it read the error and correct the call, ask, or say so"
        )
    if episode.futile_repeats > retry_cap:
        return f"the agent sent the same call {episode.futile_repeats} more times: let it read the error first"
    return None


def _times(episode: Episode) -> str:
    return f"{max(episode.unasked_retries, episode.retries if episode.looped else 0)} times"


def _in_part(episode: Episode, right: frozenset[str], retry_cap: int) -> str | None:
    if right and right.isdisjoint(_counted_as(episode)):
        return f"the agent reacted by {_named(episode.reaction)} where {_listed(right)} would be right"
    if episode.unasked_retries > retry_cap:
        return f"the agent tried again {_times(episode)}, beyond the cap of {retry_cap}"
    if episode.futile_repeats:
        return "the agent sent the very same call again: let it correct the arguments before it retries"
    return None


def _counted_as(episode: Episode) -> frozenset[str]:
    """Return the reactions seen; a repeated call that succeeded had nothing to correct and counts as corrected."""
    mended = episode.recovered and episode.reaction == "identical_retry"
    return frozenset({*episode.reactions, "corrected_retry"} if mended else episode.reactions)


def _named(reaction: str) -> str:
    return reaction.replace("_", " ")


def _listed(reactions: frozenset[str]) -> str:
    return " or ".join(_named(each) for each in sorted(reactions))
