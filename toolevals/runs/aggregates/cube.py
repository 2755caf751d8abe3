"""Count cases by all that they can be filtered by: any combination is a sum of a few numbers."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, compress, pairwise
from typing import Any, Final, Self

from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.packed_cases import in_little_order


class View(StrEnum):
    """The counted things: first calls, aligned calls, or the sets of tools of whole cases.

    Aligned: each expected call next to the actual one that fits it best. Set: what a case expects and what it calls,
    each tool once.
    """

    FIRST = "first"
    ALIGNED = "aligned"
    SET = "set"


class Unit(StrEnum):
    """The unit of counts: every trial of an example, or each example once, by what most of its trials did."""

    TRIAL = "trial"
    MAJORITY = "majority"


Cell = tuple[str, str]
# What a context says of its cases. `day` is an ISO date (UTC) on which the agent answered; `trial` counts from 1;
# `turn` and `gold` are None where no one knows them; the others are as with the case.
CONTEXT: Final = ("bucket", "difficulty", "tag", "mode", "ended", "day", "trial", "turn", "gold", *VERDICT_NAMES)
# Prices are added up as whole numbers, so that the sum is the same in whichever order: so many of them are one.
PRICE_UNITS: Final = 10**12
# Of the cases in one cell and context: how many say their price and the sum, how many their tokens and the sum.
Costs = tuple[int, int, int, int]
NO_COSTS: Final[Costs] = (0, 0, 0, 0)
# Sums over examples by ("recall", "precision" or "f1", class), and of all cells by ("accuracy", ""). By ("cell",
# expected, actual) off the diagonal those of the examples that stand there, among the trials of their row.
ClassSums = dict[tuple[str, ...], ExampleSums]
Context = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of cases in each cell of one matrix, by context.

    `contexts` are distinct values of CONTEXT. `cells` holds places in `classes`, expected and actual; the first cell
    is outside the matrix. Of each context a stretch of `places` (in `cells`) and `counts` next to it: those between its
    two `bounds`. `costs` next to them, empty where nothing is known of any.
    """

    contexts: tuple[Context, ...]
    classes: tuple[str, ...]
    cells: tuple[array[int], array[int]]
    bounds: tuple[int, ...]
    places: array[int]
    counts: array[int]
    costs: tuple[Costs, ...] = ()

    @classmethod
    def of(
        cls,
        contexts: Sequence[Context],
        counts: Mapping[tuple[int, Cell], int],
        costs: Mapping[tuple[int, Cell], Costs],
    ) -> Self:
        """Return what was counted by number of context and cell; the cell ("", "") is outside the matrix."""
        cells: dict[Cell, int] = {("", ""): 0}
        classes: dict[str, int] = {"": 0}
        rows = []
        for key, count in counts.items():
            context, cell = key
            for name in cell:
                classes.setdefault(name, len(classes))
            rows.append((context, cells.setdefault(cell, len(cells)), count, costs.get(key, NO_COSTS)))
        rows.sort()
        sizes = Counter(row[0] for row in rows)
        return cls(
            tuple(contexts),
            tuple(classes),
            (_numbers(classes[cell[0]] for cell in cells), _numbers(classes[cell[1]] for cell in cells)),
            (0, *accumulate(sizes[number] for number in range(len(contexts)))),
            _numbers(row[1] for row in rows),
            _numbers(row[2] for row in rows),
            tuple(row[3] for row in rows) if any(row[3] != NO_COSTS for row in rows) else (),
        )

    def to_document(self) -> JsonObject:
        """Return what the numbers stand for, as JSON."""
        return {
            "columns": list(CONTEXT),
            "contexts": [list(context) for context in self.contexts],
            "classes": list(self.classes),
            "cells": len(self.cells[0]),
        }

    def to_bytes(self) -> bytes:
        """Return the numbers."""
        bounds = _numbers(self.bounds)
        numbers = self.cells[0] + self.cells[1] + bounds + self.places + self.counts
        return zlib.compress(in_little_order(numbers).tobytes(), 1)

    def costs_to_bytes(self) -> bytes:
        """Return the costs; empty where nothing is known of any."""
        return zlib.compress(json.dumps(self.costs).encode(), 1) if self.costs else b""

    @classmethod
    def from_document(cls, document: Any, numbers: bytes, costs: bytes = b"") -> Self:
        """Return what `to_document`, `to_bytes` and `costs_to_bytes` gave; without the costs, without them."""
        held = array("I")
        held.frombytes(zlib.decompress(numbers))
        held = in_little_order(held)
        cells, contexts = document["cells"], [tuple(context) for context in document["contexts"]]
        starts = [0, cells, 2 * cells, 2 * cells + len(contexts) + 1]
        starts += [(starts[-1] + len(held)) // 2, len(held)]
        expected, actual, bounds, places, counts = (held[start:stop] for start, stop in pairwise(starts))
        said = json.loads(zlib.decompress(costs)) if costs else ()
        return cls(
            tuple(contexts),
            tuple(document["classes"]),
            (expected, actual),
            tuple(bounds),
            places,
            counts,
            tuple(tuple(each) for each in said),
        )

    def values(self, column: str) -> set[Any]:
        """Return the values that occur in a column of CONTEXT."""
        place = CONTEXT.index(column)
        return {context[place] for context in self.contexts}

    def where(self, conditions: Mapping[str, Callable[[Any], bool]]) -> list[int]:
        """Return the places of the contexts that meet every condition on a column."""
        tests = [(CONTEXT.index(column), test) for column, test in conditions.items()]
        return [
            number for number, context in enumerate(self.contexts) if all(test(context[place]) for place, test in tests)
        ]

    def totals(self, contexts: Iterable[int]) -> list[int]:
        """Return how many cases of some contexts stand in each cell."""
        sums = [0] * len(self.cells[0])
        for number in contexts:
            start, stop = self.bounds[number], self.bounds[number + 1]
            for place, count in zip(self.places[start:stop], self.counts[start:stop], strict=True):
                sums[place] += count
        return sums

    def in_cells(self, contexts: Iterable[int]) -> dict[Cell, int]:
        """Return how many cases of some contexts stand in each cell of the matrix that holds any."""
        classes, totals = self.classes, self.totals(contexts)
        totals[0] = 0
        expected, actual = (map(classes.__getitem__, side) for side in self.cells)
        return dict(compress(zip(zip(expected, actual, strict=True), totals, strict=True), totals))

    def costs_in_cells(self, contexts: Iterable[int]) -> dict[Cell, Costs]:
        """Return what the cases of some contexts cost, by cell of the matrix."""
        by_cell: dict[int, Costs] = {}
        for number in contexts if self.costs else ():
            start, stop = self.bounds[number], self.bounds[number + 1]
            for place, cost in zip(self.places[start:stop], self.costs[start:stop], strict=True):
                one, two, three, four = by_cell.get(place, NO_COSTS)
                by_cell[place] = one + cost[0], two + cost[1], three + cost[2], four + cost[3]
        by_cell.pop(0, None)
        return {self.cell(place): cost for place, cost in by_cell.items()}

    def cell(self, place: int) -> Cell:
        """Return the classes of a place in `cells`."""
        return self.classes[self.cells[0][place]], self.classes[self.cells[1][place]]

    def places_of(self, expected: Collection[str] | None, actual: Collection[str] | None) -> list[int]:
        """Return the places in `cells` of some classes; None is any."""
        wanted = [
            None if names is None else {self.classes.index(name) for name in names} for names in (expected, actual)
        ]
        return [
            place
            for place, cell in enumerate(zip(*self.cells, strict=True))
            if place and all(names is None or number in names for names, number in zip(wanted, cell, strict=True))
        ]


def _numbers(values: Iterable[int]) -> array[int]:
    return array("I", values)
