"""Compare the answers to one example with its gold, part by part."""

from __future__ import annotations

from dataclasses import dataclass

from labeling.calibration.results import ItemResult, Split
from labeling.expectations.comparison import Comparison, compare_answers
from labeling.expectations.wording import ExpectationWords, expectation_words


@dataclass(frozen=True, slots=True)
class Beside:
    """Answers of one meaning; `comparison` has the answer on the left and the gold on the right."""

    letter: str
    split: Split
    words: ExpectationWords | None
    comparison: Comparison | None


def compared(result: ItemResult) -> list[Beside]:
    """Return the answers to an example, lettered; those that mean what the gold does are not compared with it."""
    return [
        Beside(
            letter=_letter(place),
            split=split,
            words=expectation_words(split.said.expectation) if split.said.expectation else None,
            comparison=None if split.is_gold else compare_answers(split.said, result.gold),
        )
        for place, split in enumerate(result.splits)
    ]


def _letter(place: int) -> str:
    """Return A to Z, then A2, B2 and so on."""
    turn, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")
