"""Divide the classes of a matrix: tools as called, merged, or split by a second output (Neo, CHI 2022)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reports.filters.case_filters import STATUSES, Effect, Filters, Split
from reports.filters.gold_values import compared_name, gold_values
from reports.filters.offered import effects_by_name
from toolevals.grading.metrics.confusion import EVERY, SPECIAL, collapsed_class, set_class, tools_of_class
from toolevals.presentation.numbers import DIVIDER
from toolevals.runs.counts.counted_cases import Cell
from toolevals.runs.models import Grading

_OUTCOMES: Final = dict(zip(STATUSES, ("right", "wrong", "unscored", "errored"), strict=True))
_EFFECTS: Final = {Effect.READ: "read", Effect.WRITE: "write", Effect.UNSAID: "unsaid"}
# The class of all tools of one effect, taken together.
EFFECT_CLASSES: Final = {
    Effect.READ: "(read-only tools)",
    Effect.WRITE: "(writing tools)",
    Effect.UNSAID: "(tools of unsaid effect)",
}


@dataclass(frozen=True, slots=True)
class Classing:
    """The way that matrix classes follow from the expected and the called tools; every sum stays the same.

    `effects` by tool where classes are divided by them, on both sides. The verdict on the arguments is of the call,
    thus it divides the called side alone; an argument's value in the gold is of what is expected, thus it divides that
    side alone, and of it the classes that hold one of `tools`, which are expected with the argument. Classes that are
    no tools stay whole.
    """

    collapse: tuple[str, ...]
    split: Split
    effects: Mapping[str, Effect]
    tools: frozenset[str] = frozenset()

    def class_of(self, name: str) -> str:
        """Return the class that a tool or set of tools counts in: `pay · write`, `math.*`, `(writing tools)`."""
        if self.split is not Split.EFFECT or name in SPECIAL:
            return collapsed_class(name, self.collapse)
        tools = {tool: self.effects.get(tool, Effect.UNSAID) for tool in tools_of_class(name)}
        found = set_class(self._folded(tool, effect) for tool, effect in tools.items())
        if found in EFFECT_CLASSES.values():
            return found
        return found + DIVIDER + " + ".join(words for effect, words in _EFFECTS.items() if effect in tools.values())

    def cells(self, parts: Mapping[str, Mapping[Cell, Any]]) -> dict[Cell, Any]:
        """Return sums by cell of the matrix from those by what divides and cell of the tools.

        That is the verdict on the arguments, or the value that is expected; else everything is under "".
        """
        if not self.collapse and self.split is Split.NOTHING:
            return dict(parts[""])
        names = {name for cells in parts.values() for cell in cells for name in cell}
        classes = {name: self.class_of(name) for name in names}
        found: dict[Cell, Any] = {}
        by_value = self.split is Split.VALUE
        divisible = self._divisible() if by_value else frozenset()
        for part, cells in parts.items():
            if by_value:
                due = {name: value_part(each, part, divisible) for name, each in classes.items()}
                called = classes
            else:
                due, called = classes, {name: divided_by(each, part) for name, each in classes.items()}
            for (expected, actual), value in cells.items():
                cell = due[expected], called[actual]
                found[cell] = found[cell] + value if cell in found else value
        return found

    def _divisible(self) -> frozenset[str]:
        """Return the classes of the tools that are expected with the argument."""
        names = {form for tool in self.tools for form in (tool, compared_name(tool))}
        return frozenset(collapsed_class(name, self.collapse) for name in names)

    def _folded(self, tool: str, effect: Effect) -> str:
        whole = EFFECT_CLASSES[effect]
        return whole if EVERY in self.collapse or whole in self.collapse else collapsed_class(tool, self.collapse)


def classing_of(grading: Grading, filters: Filters) -> Classing:
    """Return how filters class the tools of a grading."""
    effects = effects_by_name(grading) if filters.split is Split.EFFECT else {}
    by_value = filters.split is Split.VALUE
    tools = gold_values(grading, filters.split_argument).tools if by_value else frozenset()
    return Classing(filters.collapse, filters.split, effects, tools)


def divided_by(name: str, status: str) -> str:
    """Return the part of a called class whose cases have this verdict on their arguments; "" is the whole."""
    return name if not status or name in SPECIAL else name + DIVIDER + _OUTCOMES[status]


def part_of(name: str, split: Split) -> tuple[str, str]:
    """Return the whole that a called class is a part of, and the verdict on the arguments there; "" for a whole."""
    whole, _, words = name.rpartition(DIVIDER)
    if split is not Split.ARGUMENTS or not whole:
        return name, ""
    return next(((whole, status) for status, each in _OUTCOMES.items() if each == words), (name, ""))


def value_part(name: str, value: str, divisible: Collection[str]) -> str:
    """Return the part of an expected class with a value; whole where none of its tools is expected with the argument.

    A name that looks like a part is always divided, so that no whole is taken for one.
    """
    if name in SPECIAL or not (DIVIDER in name or any(tool in divisible for tool in tools_of_class(name))):
        return name
    return name + DIVIDER + value


def expected_part_of(name: str, split: Split) -> tuple[str, str]:
    """Return the whole that an expected class is a part of, and the value there; "" for a whole."""
    whole, _, value = name.rpartition(DIVIDER)
    return (whole, value) if split is Split.VALUE and whole and value else (name, "")


def without_effect(name: str, split: Split) -> str:
    """Return the tool, set of tools or namespace that a class is of, where effects divide."""
    whole, _, _ = name.rpartition(DIVIDER)
    return whole if whole and split is Split.EFFECT else name


def block_of(name: str, split: Split) -> int:
    """Return the number of the block that a class stands in: by effect, those of several effects last."""
    if split is not Split.EFFECT or name in SPECIAL:
        return 0
    blocks = [*EFFECT_CLASSES.values(), *_EFFECTS.values()]
    words = name if name in blocks else name.rpartition(DIVIDER)[2]
    return blocks.index(words) % len(_EFFECTS) if words in blocks else len(_EFFECTS)
