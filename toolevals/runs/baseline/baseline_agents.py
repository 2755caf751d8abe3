"""Baseline agents: trivial agents whose scores on a dataset version other scores are read against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db.models import TextChoices

from toolevals.grading.values import Message, ToolCall, ToolSpec, Transcript

# Part of every floor's agent: a change of what one does is a new version, and so a new agent.
VERSION = "1"
# The connector of every floor's agent.
FLOOR = "floor"
# The experiment of every floor. Nobody's own can be called so: names are slugs without leading underscores.
EXPERIMENT = "_floors"
# Floors are numbered from here on, so that people's runs count without a gap.
FLOOR_NUMBERS = 1_000_000_000
# What is said in place of a call.
NO_CALL = "I make no call."


class Floor(TextChoices):
    """What a floor does, whatever it is asked."""

    NONE = "none", "always (none)"
    FREQUENT = "frequent", "always the most frequent tool"
    CHANCE = "chance", "chance"
    NOTHING = "nothing", "does nothing"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the gold of a version expects: its tools, the most frequent first, and whether it holds a scenario."""

    tools: tuple[str, ...]
    has_scenarios: bool

    @property
    def floors(self) -> tuple[Floor, ...]:
        """The floors that say something: one that does nothing at all differs from (none) in scenarios only."""
        return tuple(Floor) if self.has_scenarios else (Floor.NONE, Floor.FREQUENT, Floor.CHANCE)


def expected_of(expectations: Iterable[Mapping[str, Any]]) -> Expected:
    """Return what expectations (documents) expect, each by its first alternative; equally frequent tools by name.

    A scenario is an example whose gold names a final state or more than one call.
    """
    counts: Counter[str] = Counter()
    has_scenarios = False
    for document in expectations:
        calls = _first_calls(document)
        counts.update(calls)
        has_scenarios = has_scenarios or len(calls) > 1 or document.get("state") is not None
    return Expected(tuple(sorted(counts, key=lambda name: (-counts[name], name))), has_scenarios)


def floor_transcript(
    floor: str, example: str, trial: int, tools: Sequence[ToolSpec], frequent: Sequence[str]
) -> Transcript:
    """Return what a floor does in a trial of the example of that external id.

    - none: says that it makes no call.
    - frequent: calls, of the offered tools, the one that is expected most often in the whole version, the first offered
      where none ever is, without arguments: only tools that need none are right in full.
    - chance: each offered tool and no call alike likely, without arguments; drawn from the example's id and the trial,
      so that it is the same everywhere.
    - nothing: neither says nor calls anything.
    """
    if floor == Floor.NOTHING:
        return Transcript()
    names = [tool.name for tool in tools]
    if floor == Floor.FREQUENT:
        return _call(next((name for name in frequent if name in names), names[0] if names else None))
    if floor == Floor.CHANCE:
        place = int.from_bytes(sha256(f"{VERSION}:{example}:{trial}".encode()).digest()[:8], "big") % (len(names) + 1)
        return _call(names[place] if place < len(names) else None)
    return _call(None)


def _call(name: str | None) -> Transcript:
    if name is None:
        return Transcript(messages=(Message("assistant", NO_CALL),), answer=NO_CALL)
    return Transcript(messages=(Message("assistant", None, (ToolCall(name, {}),)),))


def _first_calls(document: Mapping[str, Any]) -> list[str]:
    """Return the tools that the first alternative expects; of a choice between calls the first."""
    first = (document.get("alternatives") or [{}])[0]
    steps = [each for step in first.get("ordered", ()) for each in step.get("any_order", (step,))]
    expected = [*steps, *first.get("unordered", ())]
    return [each.get("one_of_calls", (each,))[0]["tool"] for each in expected]
