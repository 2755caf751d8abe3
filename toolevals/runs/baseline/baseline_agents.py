"""Define baseline agents: trivial agents whose scores on a dataset version other scores are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.db.models import TextChoices

from toolevals.grading.values import Message, ToolCall, ToolSpec, Transcript
from toolevals.json_types import JsonMapping

# Part of every baseline agent's state: a change of what one does is a new version, and so a new agent.
VERSION = "1"
# The connector of every baseline agent.
BASELINE_AGENT = "baseline_agent"
# The experiment of every baseline agent. People's experiments have slugs without a leading underscore.
EXPERIMENT = "_baseline_agents"
# Runs of baseline agents are numbered from here on, so that people's runs count without a gap.
FIRST_NUMBER = 1_000_000_000
# The answer in place of a call.
NO_CALL = "I make no call."


class BaselineAgent(TextChoices):
    """Names what a baseline agent does with every request."""

    NONE = "none", "always (none)"
    FREQUENT = "frequent", "always the most frequent tool"
    CHANCE = "chance", "chance"
    NOTHING = "nothing", "does nothing"


@dataclass(frozen=True, slots=True)
class Expected:
    """The tools that the gold of a version expects, the most frequent first, and whether it holds a scenario."""

    tools: tuple[str, ...]
    has_scenarios: bool

    @property
    def baseline_agents(self) -> tuple[BaselineAgent, ...]:
        """The baseline agents that say something: doing nothing at all differs from (none) in scenarios only."""
        return (
            tuple(BaselineAgent)
            if self.has_scenarios
            else (BaselineAgent.NONE, BaselineAgent.FREQUENT, BaselineAgent.CHANCE)
        )


def expected_of(expectations: Iterable[JsonMapping]) -> Expected:
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


def baseline_agent_transcript(
    baseline_agent: str, example: str, trial: int, tools: Sequence[ToolSpec], frequent: Sequence[str]
) -> Transcript:
    """Return what a baseline agent does in a trial of the example of that external id.

    - none: says that it makes no call.
    - frequent: calls, of the offered tools, the one that is expected most often in the whole version, the first offered
      where none ever is, without arguments: only tools that need none are right in full.
    - chance: each offered tool and no call alike likely, without arguments; drawn from the example's id and the trial,
      so that it is the same everywhere.
    - nothing: neither says nor calls anything.
    """
    if baseline_agent == BaselineAgent.NOTHING:
        return Transcript()
    names = [tool.name for tool in tools]
    if baseline_agent == BaselineAgent.FREQUENT:
        return _call(next((name for name in frequent if name in names), names[0] if names else None))
    if baseline_agent == BaselineAgent.CHANCE:
        place = int.from_bytes(sha256(f"{VERSION}:{example}:{trial}".encode()).digest()[:8], "big") % (len(names) + 1)
        return _call(names[place] if place < len(names) else None)
    return _call(None)


def _call(name: str | None) -> Transcript:
    if name is None:
        return Transcript(messages=(Message("assistant", NO_CALL),), answer=NO_CALL)
    return Transcript(messages=(Message("assistant", None, (ToolCall(name, {}),)),))


def _first_calls(document: JsonMapping) -> list[str]:
    """Return the tools that the first alternative expects; of a choice between calls the first."""
    first = (document.get("alternatives") or [{}])[0]
    steps = [each for step in first.get("ordered", ()) for each in step.get("any_order", (step,))]
    expected = [*steps, *first.get("unordered", ())]
    return [each.get("one_of_calls", (each,))[0]["tool"] for each in expected]
