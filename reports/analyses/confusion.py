"""Read one cell off the diagonal with its tools' words and its cases, and the words that both share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reports.analyses.words import words_of
from toolevals.grading.values import ToolSpec

MOST_WORDS = 3


@dataclass(frozen=True, slots=True)
class ConfusedCase:
    """A case of the cell: its example's id, the case's own, what the user said last, and the names it called."""

    name: str
    case: str
    text: str
    called: tuple[str, ...] = ()


# Not slotted: words are looked for once.
@dataclass(frozen=True)
class Confusion:
    """One cell off the diagonal. A spec is None where the class is no tool or stands for several.

    `reverse` is how many cases stand in the opposite cell, `offered` the names of every offered tool.
    """

    expected: str
    actual: str
    expected_spec: ToolSpec | None
    actual_spec: ToolSpec | None
    cases: Sequence[ConfusedCase]
    reverse: int = 0
    count: int = 0
    offered: Sequence[str] = field(default=())

    @cached_property
    def expected_words(self) -> dict[str, str]:
        """The words of the right tool."""
        return spec_words(self.expected_spec)

    @cached_property
    def actual_words(self) -> dict[str, str]:
        """The words of the called tool."""
        return spec_words(self.actual_spec)

    def said(self, among: set[str], without: set[str]) -> list[tuple[str, tuple[ConfusedCase, ...]]]:
        """Return the words of `among` that cases say, and `without` does not hold, most said first, with the cases."""
        by_word: dict[str, list[ConfusedCase]] = {}
        for case in self.cases:
            for form in words_of(case.text):
                if form in among and form not in without:
                    by_word.setdefault(form, []).append(case)
        # Sorting is stable: of words that are said as often, those that were said first.
        ranked = sorted(by_word.items(), key=lambda item: -len({case.name for case in item[1]}))[:MOST_WORDS]
        return [(form, tuple(cases)) for form, cases in ranked]

    def unsaid(self, without: set[str]) -> list[tuple[str, tuple[ConfusedCase, ...]]]:
        """Return the words that at least two examples say and `without` does not hold, most said first."""
        texts = {case.name: case.text for case in self.cases}
        counts = Counter(form for text in texts.values() for form in words_of(text))
        often = {form for form, count in counts.items() if count > 1}
        return self.said(often, without)


def spec_words(spec: ToolSpec | None) -> dict[str, str]:
    """Return the words of a tool's name and description as `words_of` does; none where there is no tool."""
    return words_of(spec.name, spec.description) if spec else {}
