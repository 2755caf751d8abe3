"""Work out what goes wrong: failures by their mode, each with the layer that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolevals.grading.engine.grader_catalog import MODES as MODE_SENTENCES
from toolevals.grading.engine.grader_catalog import TAGS, TagWords
from toolevals.grading.values.verdict_table import FAILURES

SELECTION, ARGUMENTS = "selection", "arguments"
OUTCOME = "outcome"
# Mode -> the layer that loses the case.
MODES: Final[dict[str, str]] = {
    "wrong_tool": SELECTION,
    "hallucinated_tool": SELECTION,
    "missed_call": SELECTION,
    "refused": SELECTION,
    "needless_call": SELECTION,
    "extra_call": SELECTION,
    "disallowed_call": SELECTION,
    "wrong_order": SELECTION,
    "malformed_output": SELECTION,
    "schema_error": ARGUMENTS,
    "wrong_shape": ARGUMENTS,
    "wrong_value": ARGUMENTS,
    "missing_argument": ARGUMENTS,
    "extra_argument": ARGUMENTS,
    **{failure.mode: verdict for verdict, failure in FAILURES.items()},
    "cut_off": OUTCOME,
}
# Errors are not failures: nothing was learnt about the agent.
ERROR_MODES: Final = ("adapter_error", "harness_error")


@dataclass(frozen=True, slots=True)
class FailureMode:
    """The number of cases that failed in one way, and in which layer."""

    mode: str
    layer: str
    count: int

    @property
    def meaning(self) -> str:
        """Say what it means; what the agent's own graders call so says it by its name."""
        return MODE_SENTENCES.get(self.mode, words(self.mode))


def failure_modes(counts: Mapping[str, int]) -> tuple[FailureMode, ...]:
    """Return the modes that occur, by layer and then by count, from counts by mode."""
    held = {mode: count for mode, count in counts.items() if count and mode and mode not in ERROR_MODES}
    modes = [FailureMode(mode, MODES.get(mode, ""), count) for mode, count in held.items()]
    layers = {SELECTION: 0, ARGUMENTS: 1}
    return tuple(sorted(modes, key=lambda each: (layers.get(each.layer, 2), -each.count, each.mode)))


@dataclass(frozen=True, slots=True)
class TagCount:
    """The number of cases with a failure tag, its meaning, and what to do."""

    tag: str
    count: int
    words: TagWords


def tag_counts(counts: Mapping[str, int]) -> tuple[TagCount, ...]:
    """Return every failure tag, those that nothing has included, from counts by tag."""
    return tuple(TagCount(str(tag), counts.get(tag, 0), says) for tag, says in TAGS.items())


def words(mode: str) -> str:
    """Return the mode as it is read: "wrong tool"."""
    return mode.replace("_", " ")
