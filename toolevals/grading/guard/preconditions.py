"""Proposes preconditions, "tool A before tool B", from conversations that went well: a person confirms them.

A proposal says what the order rule would have let pass: each successful call of B had a successful call of A before it
in the same conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from toolevals.grading.metrics.rates import Interval, wilson

# A pair that was seen in fewer conversations, or whose share may be lower, is not proposed.
FEWEST_CONVERSATIONS: Final = 5
LOWEST_SHARE: Final = 0.5
# Of one conversation so many different tools are remembered: what comes after counts as not called.
MOST_TOOLS: Final = 200


class OrderedCall(NamedTuple):
    """A call in its order; one that failed is neither a precondition nor has one."""

    tool: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class LearntPrecondition:
    """A pair: in how many conversations `tool` was called, and in how many of these `after` always came before it."""

    tool: str
    after: str
    conversations: int
    before: int

    @property
    def share(self) -> float:
        """The share of the conversations in which it held."""
        return self.before / self.conversations

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share."""
        return wilson(self.before, self.conversations)


def called_before(calls: Sequence[OrderedCall], writes: Callable[[str], bool]) -> dict[str, frozenset[str]]:
    """Return for each tool that writes and was called the tools that came before every call of it."""
    found: dict[str, frozenset[str]] = {}
    earlier: set[str] = set()
    for call in calls:
        if call.failed:
            continue
        if writes(call.tool):
            before = frozenset(earlier - {call.tool})
            found[call.tool] = found.get(call.tool, before) & before
        if len(earlier) < MOST_TOOLS:
            earlier.add(call.tool)
    return found


def learnt_preconditions(conversations: Iterable[Mapping[str, frozenset[str]]]) -> list[LearntPrecondition]:
    """Return the pairs that `called_before` of conversations proposes, the surest first.

    The order is that of the interval's lower end, then of the names.
    """
    of_tool: Counter[str] = Counter()
    held: Counter[tuple[str, str]] = Counter()
    for conversation in conversations:
        of_tool.update(conversation.keys())
        held.update((tool, after) for tool, before in conversation.items() for after in before)
    pairs = [LearntPrecondition(tool, after, of_tool[tool], count) for (tool, after), count in held.items()]
    sure = [
        each
        for each in pairs
        if each.conversations >= FEWEST_CONVERSATIONS and each.interval.low >= LOWEST_SHARE
    ]
    return sorted(sure, key=lambda each: (-each.interval.low, each.tool, each.after))
