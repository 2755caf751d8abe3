"""The short way for the commonest case: one call is expected, and it is made just so.

Of such a case everything but the argument values is the same each time, so it is graded the long way once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolevals.grading.matching import CompiledCall
from toolevals.grading.offer import Offer
from toolevals.grading.problems import pointer_to
from toolevals.grading.trajectory import CompiledTrajectory
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.verdicts import ArgumentDifference, CaseGrade


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One expected call, and the grade of a call that matches it, by the name under which it was made."""

    expected: CompiledCall
    offer: Offer
    known: dict[str, CaseGrade] = field(default_factory=dict)

    @classmethod
    def of(cls, trajectories: Sequence[CompiledTrajectory], offer: Offer) -> Shortcut | None:
        """Return the short way; None where more than one call may be right, or some are banned."""
        if len(trajectories) != 1 or len(trajectories[0].calls) != 1:
            return None
        only = trajectories[0]
        return None if only.disallowed or only.choices else cls(only.calls[0], offer)

    def grade(self, calls: Sequence[Call]) -> CaseGrade | None:
        """Return the grade of the one call that was expected; None where the case has to go the long way."""
        if len(calls) != 1 or not isinstance(call := calls[0], ToolCall):
            return None
        known = self.known.get(call.name)
        if known is None or not self.expected.matches(call.arguments) or self.offer.problems(call, 0):
            return None
        return CaseGrade(
            known.verdicts, known.tag, known.mode, known.expected, known.actual, known.pairs, self._differences(call)
        )

    def learn(self, calls: Sequence[Call], graded: CaseGrade) -> CaseGrade:
        """Keep the grade of a case that took the long way and need not have; return it."""
        if len(calls) == 1 and graded.outcome.status == "passed" and len(self.known) < 4:
            self.known[calls[0].name or ""] = graded
        return graded

    def _differences(self, call: ToolCall) -> tuple[ArgumentDifference, ...]:
        wanted = self.expected.arguments
        asked = [
            ArgumentDifference(argument.pointer, argument.document, call.arguments[name], "same")
            for name, argument in wanted.items()
            if name in call.arguments
        ]
        free = [
            ArgumentDifference(pointer_to((name,)), None, value, "same")
            for name, value in call.arguments.items()
            if name not in wanted
        ]
        return (*asked, *free)
