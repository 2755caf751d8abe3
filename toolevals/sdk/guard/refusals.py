"""Says to a model that a call was refused, so that it can do something else."""

from __future__ import annotations

from typing import Literal

from toolevals.grading.guard import Decision

NOT_MADE = "Not made: another call of the same message was refused. Call it again if it is still needed."


class RefusedCall(RuntimeError):  # noqa: N818 - an answer to the model, not a defect
    """A call that the guard refuses, or its result. The text is for the model."""

    def __init__(self, name: str, decision: Decision, *, of: Literal["call", "result"] = "call") -> None:
        super().__init__(refusal_text(name, decision, of=of))
        self.name = name
        self.decision = decision
        self.of = of


def refusal_text(name: str, decision: Decision, *, of: Literal["call", "result"] = "call") -> str:
    """Return what a model is told: that it was refused, why, and what it can do."""
    sentences = " ".join(dict.fromkeys(reason.sentence for reason in decision.reasons))
    if of == "result":
        return f"The call of {name} was made, but its result is withheld by policy. {sentences} Continue without it."
    return f"The call of {name} was refused by policy and not made. {sentences} Change it, or continue without it."
