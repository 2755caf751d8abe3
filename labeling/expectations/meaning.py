"""Tell what a label means: labels of one meaning agree, however they are put."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from toolevals.grading.matching.equivalence import expectation_form
from toolevals.grading.values import Expectation
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonObject


class Saying(Protocol):
    """A label, or a side of a comparison: an answer (`LabelAnswer`), and an expectation where it is one."""

    @property
    def answer(self) -> Any: ...
    @property
    def expectation(self) -> Any: ...


One = TypeVar("One", bound=Saying)


def meaning(answer: str, expectation: JsonObject | None) -> str:
    """Return a text that is the same for what means the same, by `grading.equivalence`."""
    if expectation is None:
        return str(answer)
    return canonical(expectation_form(Expectation.from_document(expectation)))


def groups(sayings: Iterable[One]) -> list[list[One]]:
    """Return what means the same together, in the order of each group's first."""
    by_meaning: dict[str, list[One]] = {}
    for one in sayings:
        by_meaning.setdefault(meaning(one.answer, one.expectation), []).append(one)
    return list(by_meaning.values())
