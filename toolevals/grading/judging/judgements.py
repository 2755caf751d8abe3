"""Defines one question to a judge, and its answer, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from toolevals.grading.judging.rubrics import Rubric
from toolevals.grading.values.canonical import digest, exact


@dataclass(frozen=True)
class JudgementRequest:
    """A rubric and what the judge is given of a case: JSON values by the names of the rubric's inputs."""

    rubric: Rubric
    inputs: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the inputs: with rubric and model it names the question."""
        return digest(dict(self.inputs))

    @cached_property
    def size(self) -> int:
        """Return how many characters of JSON the judge is given."""
        return len(exact(dict(self.inputs)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer to the request whose rubric and inputs it names.

    `value` is 0..1, None where the answer holds nothing to score. `answer` is the judge's own, as the rubric's schema
    has it. `error` says why there is no answer. `model` is the snapshot that was asked; `pinned` says that its name
    stands for one snapshot and no other.
    """

    rubric: str
    inputs: str
    value: float | None = None
    reason: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    model: str = ""
    pinned: bool = True

    @classmethod
    def of_answer(
        cls, request: JudgementRequest, answer: Mapping[str, Any], *, model: str = "", pinned: bool = True
    ) -> Self:
        """Return the judgement in an answer that the rubric's schema has passed. Raises InvalidDocument."""
        value = request.rubric.value_of(answer, request.inputs)
        reason = answer.get("reason")
        said = reason if isinstance(reason, str) else ""
        return cls(request.rubric.name, request.digest, value, said, dict(answer), model=model, pinned=pinned)

    @classmethod
    def errored(cls, request: JudgementRequest, error: str, *, model: str = "", pinned: bool = True) -> Self:
        """Return the judgement that was not had."""
        return cls(request.rubric.name, request.digest, error=error or "No reason given.", model=model, pinned=pinned)
