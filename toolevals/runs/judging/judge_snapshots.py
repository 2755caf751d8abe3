"""Keep a grading's judges as they were when it began, so that its numbers always name who judged."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Self

from toolevals.grading.engine.case_findings import open_questions
from toolevals.grading.judging.case_judging import LEFT_TO_RULES
from toolevals.grading.values.verdicts import CaseGrade
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.models import Grading, Judge

# A share is compared with a number of so many bits.
_BITS = 48
_LIMIT: int = 2**_BITS


@dataclass(frozen=True, slots=True)
class JudgeSnapshot:
    """One judge in a grading: what it judges by, its model, and how much it is asked."""

    judge: str
    name: str
    rubric: str
    version: int
    title: str
    layer: str
    model: str
    pinned: bool
    share: float
    budget: float | None
    # Asked where the rules of its layer leave a question, too, in its share or not.
    unscored: bool = False

    @classmethod
    def of(cls, judge: Judge) -> Self:
        """Return the seat of a judge as it is now."""
        rubric = judge.rubric
        return cls(
            judge=str(judge.pk),
            name=judge.name,
            rubric=rubric.name,
            version=rubric.version,
            title=rubric.title,
            layer=rubric.layer,
            model=judge.model,
            pinned=judge.is_pinned,
            share=judge.share,
            budget=judge.budget,
        )

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        return cls(**document)

    def to_document(self) -> JsonObject:
        """Return the seat as it is kept; `unscored` only where it is so, as in older gradings."""
        return {name: value for name, value in asdict(self).items() if name != "unscored" or value}

    def asks(self, example: object, grade: CaseGrade) -> bool:
        """Tell whether the judge is asked about an example with this grade by the rules."""
        return self.takes(example) or (self.unscored and self.layer in open_questions(grade))

    def takes(self, example: object) -> bool:
        """Tell whether an example is in the judge's share: always the same ones, and those of a smaller share too."""
        digest = hashlib.sha256(f"{self.rubric} {example}".encode()).digest()
        return int.from_bytes(digest[: _BITS // 8], "big") < self.share * _LIMIT

    @property
    def left_out(self) -> str:
        """Return why an example outside its share is not judged."""
        if self.unscored:
            return LEFT_TO_RULES
        return f"Not asked: this example is outside the {self.share:.0%} share of this judge."

    @property
    def too_dear(self) -> str:
        """Return why nothing is asked any more."""
        return f"Not asked: the judge's cap of {self.budget:g} for a grading was reached."


def seats_of(grading: Grading) -> list[JudgeSnapshot]:
    """Return the judges that a grading asks, in their order."""
    return [JudgeSnapshot.from_document(document) for document in grading.judges]
