"""Work out what conversations take: tokens, time and money, read once from their documents into columns and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, Final, Self

from toolevals.agents.loop import End
from toolevals.json_types import JsonMapping, JsonObject

SPENT_COLUMNS: Final = ("tokens_in", "tokens_out", "tokens_cached", "latency_ms")
_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens")
# What fits the column; no conversation has used more tokens.
_MOST_TOKENS = 2**31 - 1


def spent(document: JsonMapping | None) -> tuple[int | None, int | None, int | None, float | None]:
    """Return tokens in, out and from the cache, and milliseconds, of a transcript's document, as SPENT_COLUMNS."""
    usage, took = ((document or {}).get(name) for name in ("usage", "latency_ms"))
    if not usage and took is None:
        return None, None, None, None
    counted = (_tokens((usage or {}).get(name)) for name in _TOKENS)
    latency = _number(took)
    into, out, cached = counted
    return into, out, cached, latency


def told_cost(document: JsonMapping | None) -> float | None:
    """Return what the messages of a transcript's document say that they cost together.

    None where one that counts tokens says no cost, or where all say 0: then no one knew the price.
    """
    total = 0.0
    for message in (document or {}).get("messages") or ():
        cost = _number(message.get("cost"))
        if cost is None and message.get("usage"):
            return None
        total += cost or 0.0
    return total or None


@dataclass(frozen=True, slots=True)
class Spending:
    """The ends of a run's conversations, who answered, and what they took together.

    `ends` and `models` count conversations; `ends` that say nothing (of uploads) are left out. Of tokens and cost
    `None` is unknown, and `told` says how many conversations tell their tokens, `timed` how many their time. Of
    `measured` tools it is known what single calls took.
    """

    ends: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    conversations: int = 0
    told: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost: float | None = None
    timed: int = 0
    measured: int = 0
    latency_p50: float | None = None
    latency_p95: float | None = None

    @property
    def says_anything(self) -> bool:
        return self.says_of_conversations or bool(self.measured)

    @property
    def says_of_conversations(self) -> bool:
        """True where more is known than of single calls."""
        return bool(self.ends or self.told or self.timed or self.cost is not None)

    @property
    def cost_of_case(self) -> float | None:
        """All that was spent, over the conversations; None where it is not known."""
        return None if self.cost is None or not self.conversations else self.cost / self.conversations

    @property
    def tokens_of_case(self) -> float | None:
        """The mean of tokens in and out, over the conversations that tell them; None without any."""
        if self.tokens_in is None or self.tokens_out is None or not self.told:
            return None
        return (self.tokens_in + self.tokens_out) / self.told

    @property
    def says_of_cases(self) -> bool:
        """True where what a case takes is known: money, tokens or time."""
        return any(each is not None for each in (self.cost_of_case, self.tokens_of_case, self.latency_p95))

    def cost_of_each(self, passed: int) -> float | None:
        """Return the cost of each passed case: all that was spent, over those; None without either."""
        return None if self.cost is None or not passed else self.cost / passed

    @classmethod
    def of(cls, document: JsonMapping | None) -> Self:
        """Return what a grading keeps of it; nothing is known where it keeps nothing."""
        return cls(**(document or {}))

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        return cls(**document)

    def to_document(self) -> JsonObject:
        return asdict(self)


def _tokens(value: Any) -> int | None:
    number = _number(value)
    return None if number is None or number > _MOST_TOKENS else int(number)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        return None
    return float(value)


# How a trial ended that was not begun because the run had spent its budget.
BUDGET = "budget"

# Where the conversation itself does not show it.
ENDINGS: Mapping[str, str] = {
    End.CALLS: "The conversation stopped at these calls because their tools have no simulator.",
    End.STEPS: "The conversation reached the turn limit.",
    End.LOOP: "The conversation was ended because one call was repeated.",
    End.ERRORS: "The conversation was ended after stopped: too many tool errors in succession.",
    "broken": "The agent stopped before finishing.",
    BUDGET: "The conversation was not started because the run’s budget was spent.",
}
