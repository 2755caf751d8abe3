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
    """A call in its order; one that failed is neither a precondition nor has one.

    Where `is_placed` is false, what came before it is not known, and it has none.
    """

    tool: str
    failed: bool = False
    is_placed: bool = True


class Support(NamedTuple):
    """In how many conversations a tool was called, and in how many of these another always came before it."""

    conversations: int
    before: int

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the share; 0 to 1 without conversations."""
        return wilson(self.before, self.conversations)

    @property
    def is_enough(self) -> bool:
        """Tell whether it proposes the pair."""
        return self.conversations >= FEWEST_CONVERSATIONS and self.interval.low >= LOWEST_SHARE


@dataclass(frozen=True, slots=True)
class LearntPrecondition:
    """A pair: `after` comes before `tool`, as gold and traces show it.

    They are not put together: gold that names writes alone does not say that nothing came before them.
    """

    tool: str
    after: str
    gold: Support
    traces: Support

    @property
    def best(self) -> Support:
        """The support that shows more, by the lower end of its interval."""
        return max(self.traces, self.gold, key=lambda support: support.interval.low)


def called_before(calls: Sequence[OrderedCall], writes: Callable[[str], bool]) -> dict[str, frozenset[str]]:
    """Return the tools that came before every call of each tool that writes and was called."""
    found: dict[str, frozenset[str]] = {}
    earlier: set[str] = set()
    for call in calls:
        if call.failed:
            continue
        if call.is_placed and writes(call.tool):
            before = frozenset(earlier - {call.tool})
            found[call.tool] = found.get(call.tool, before) & before
        if len(earlier) < MOST_TOOLS:
            earlier.add(call.tool)
    return found


def learnt_preconditions(
    gold: Iterable[Mapping[str, frozenset[str]]], traces: Iterable[Mapping[str, frozenset[str]]]
) -> list[LearntPrecondition]:
    """Return the pairs that gold or traces propose, each conversation by `called_before`, the surest first.

    The order is that of the interval's lower end, then of the names.
    """
    of_gold, of_traces = _Counts(gold), _Counts(traces)
    pairs = [
        LearntPrecondition(*pair, of_gold.support(*pair), of_traces.support(*pair))
        for pair in of_gold.held.keys() | of_traces.held.keys()
    ]
    sure = [each for each in pairs if each.gold.is_enough or each.traces.is_enough]
    return sorted(sure, key=lambda each: (-each.best.interval.low, each.tool, each.after))


class _Counts:
    """Counts conversations of one source: by tool, and by pair."""

    def __init__(self, conversations: Iterable[Mapping[str, frozenset[str]]]) -> None:
        self.of_tool: Counter[str] = Counter()
        self.held: Counter[tuple[str, str]] = Counter()
        for conversation in conversations:
            self.of_tool.update(conversation.keys())
            self.held.update((tool, after) for tool, before in conversation.items() for after in before)

    def support(self, tool: str, after: str) -> Support:
        return Support(self.of_tool[tool], self.held[tool, after])
