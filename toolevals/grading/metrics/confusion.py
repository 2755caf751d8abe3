"""Counts the confusion matrix of expected and actual classes, and works out the figures read from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

# Nothing is ever expected to be one of these; averages leave them out unless something was.
_NEVER_EXPECTED = (UNKNOWN_TOOL, UNPARSED)
_LAST = (NONE, UNKNOWN_TOOL, UNPARSED)


@dataclass(frozen=True, slots=True)
class ClassMetrics:
    """One class: how often expected (support), called (predicted) and both (correct), and the rates of these.

    precision = correct/predicted, recall = correct/support, F1 = 2·correct/(support + predicted), which is their
    harmonic mean. A rate whose denominator is nought is None.
    """

    name: str
    support: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float | None:
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.correct / self.support if self.support else None

    @property
    def f1(self) -> float | None:
        either = self.support + self.predicted
        return 2 * self.correct / either if either else None


class ConfusionMatrix:
    """Counts of cases by (expected class, actual class)."""

    counts: Mapping[tuple[str, str], int]

    def __init__(self, counts: Mapping[tuple[str, str], int]) -> None:
        if any(count < 0 for count in counts.values()):
            raise ValueError("a count is negative")
        self.counts = {cell: count for cell, count in counts.items() if count}

    @classmethod
    def of_cases(cls, cases: Iterable[tuple[str, str]]) -> Self:
        """Return the matrix of single cases."""
        return cls(Counter(cases))

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Every class that occurs: tools by name, then `(none)`, `(unknown tool)`, `(unparsed)`."""
        names = {name for cell in self.counts for name in cell}
        return (*sorted(names.difference(_LAST)), *(name for name in _LAST if name in names))

    @cached_property
    def total(self) -> int:
        """Return how many cases."""
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float | None:
        """The share on the diagonal; None without cases."""
        correct = sum(count for (expected, actual), count in self.counts.items() if expected == actual)
        return correct / self.total if self.total else None

    @cached_property
    def per_class(self) -> list[ClassMetrics]:
        """The figures of every class, in the order of `classes`."""
        support, predicted = dict.fromkeys(self.classes, 0), dict.fromkeys(self.classes, 0)
        for (expected, actual), count in self.counts.items():
            support[expected] += count
            predicted[actual] += count
        return [
            ClassMetrics(name, support[name], predicted[name], self.counts.get((name, name), 0))
            for name in self.classes
        ]

    @property
    def macro_f1(self) -> float | None:
        """The mean F1 of the averaged classes, each counting the same; None without classes.

        Averaged are the tools and `(none)` that were expected or called; `(unknown tool)` and `(unparsed)` only where
        they were expected, which is never in a matrix made by this package.
        """
        return self._macro([metrics.f1 for metrics in self.averaged])

    @property
    def macro_precision(self) -> float | None:
        """The mean precision of the averaged classes; a class that was never called counts as nought."""
        return self._macro([metrics.precision for metrics in self.averaged])

    @property
    def macro_recall(self) -> float | None:
        """The mean recall of the averaged classes; a class that was never expected counts as nought."""
        return self._macro([metrics.recall for metrics in self.averaged])

    @property
    def micro_precision(self) -> float | None:
        """Correct of called, of the averaged classes taken together."""
        called = sum(metrics.predicted for metrics in self.averaged)
        return sum(metrics.correct for metrics in self.averaged) / called if called else None

    @property
    def micro_recall(self) -> float | None:
        """Correct of expected, of the averaged classes taken together."""
        expected = sum(metrics.support for metrics in self.averaged)
        return sum(metrics.correct for metrics in self.averaged) / expected if expected else None

    @property
    def micro_f1(self) -> float | None:
        """F1 of the averaged classes' counts taken together; None without classes."""
        either = sum(metrics.support + metrics.predicted for metrics in self.averaged)
        return 2 * sum(metrics.correct for metrics in self.averaged) / either if either else None

    @property
    def averaged(self) -> list[ClassMetrics]:
        """The classes that count in the averages."""
        return [metrics for metrics in self.per_class if metrics.support or metrics.name not in _NEVER_EXPECTED]

    @staticmethod
    def _macro(rates: list[float | None]) -> float | None:
        return sum(rate or 0.0 for rate in rates) / len(rates) if rates else None
