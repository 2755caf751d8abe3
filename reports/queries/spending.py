"""Read how a run's conversations ended and what they took, as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from toolevals.agents.loop import End
from toolevals.runs.counts.spending import Spending
from toolevals.runs.counts.stop_reasons import BUDGET
from toolevals.runs.models import Grading

# Every end in the order in which it is shown, and what it means in a few words.
ENDS: Final[dict[str, str]] = {
    End.ANSWER: "had nothing more to say",
    End.CALLS: "called a tool without a simulator",
    End.STEPS: "at the cap on turns",
    End.LOOP: "repeated one call",
    End.ERRORS: "too many failing tools",
    "broken": "broke off by itself",
    End.UNREACHABLE: "could not be reached: errored",
    BUDGET: "not begun: unscored",
}


@dataclass(frozen=True, slots=True)
class EndRow:
    """The number of conversations that ended in one way."""

    name: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class SpendingShown:
    """The money that was spent, with the ends in a fixed order and the cost of each passed case."""

    spending: Spending
    ends: tuple[EndRow, ...]
    cost_of_each: float | None

    @property
    def most(self) -> int:
        return max((end.count for end in self.ends), default=0)


def spending_shown(grading: Grading, passed: int) -> SpendingShown | None:
    """Return what the page of a run says of its conversations; None where they say nothing."""
    if grading.spending is None:
        return None
    spending = Spending.from_document(grading.spending)
    if not spending.says_of_conversations:
        return None
    order = {name: place for place, name in enumerate(ENDS)}
    ends = sorted(spending.ends.items(), key=lambda item: order.get(item[0], len(order)))
    rows = tuple(EndRow(name, ENDS.get(name, ""), count) for name, count in ends)
    return SpendingShown(spending, rows, spending.cost_of_each(passed))
