"""Tell what is handed in with a case that judges look at.

Which rubrics are on, and the judgements that were had so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.judging.judgements import Judgement, JudgementRequest
from toolevals.grading.judging.rubrics import Rubric
from toolevals.grading.values import Message


@dataclass(frozen=True, slots=True)
class Briefing:
    """The rubrics that are on, and what judges may know besides the transcript: the example's conversation and context.

    `left_out` says of a rubric, by name, why no judge is asked in this case.
    """

    rubrics: Sequence[Rubric]
    conversation: Sequence[Message] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgements:
    """The judgements of one case so far, by rubric and inputs, with its briefing."""

    briefing: Briefing
    made: Mapping[tuple[str, str], Judgement] = field(default_factory=dict)

    @classmethod
    def of(cls, briefing: Briefing, made: Iterable[Judgement] = ()) -> Judgements:
        """Return judgements by the questions that they answer; those of other cases do no harm."""
        return cls(briefing, {(each.rubric, each.inputs): each for each in made})

    def answering(self, request: JudgementRequest) -> Judgement | None:
        """Return the judgement that answers a request; None where it is missing."""
        return self.made.get((request.rubric.name, request.digest))
