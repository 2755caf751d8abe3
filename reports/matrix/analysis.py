"""Work out the confusion matrix: its cells and what they cost, with sums, shares and order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import overload

from reports.rates import ExampleSums, Rate, rate
from toolevals.grading.metrics.confusion import SPECIAL, confusable_order

CellKey = tuple[str, str]


class Basis(StrEnum):
    """The unit of costs: the run's prices, else tokens, else what tools cost relative to each other."""

    PRICE = "price"
    TOKENS = "tokens"
    RELATIVE = "relative"


@dataclass(frozen=True, slots=True)
class Cost:
    """The sum over the cases of a cell that say what they cost, and how many do."""

    total: Decimal
    known: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.total + other.total, self.known + other.known)


def relative_costs(counts: Mapping[CellKey, int], costs: Mapping[str, float]) -> dict[CellKey, Cost]:
    """Return what the called tools cost, by cell, from what one call of each costs; no call costs nothing.

    A name that is not offered, or a tool whose cost no one says, has none.
    """
    known = {name: Decimal(str(cost)) for name, cost in costs.items()} | {SPECIAL[0]: Decimal(0)}
    return {cell: Cost(count * known[cell[1]], count) for cell, count in counts.items() if cell[1] in known}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a class: of which whole, what its cases have in common, at which place among its like.

    Of a called class that is the verdict on their arguments, of an expected one the value that the gold names.
    """

    whole: str
    status: str
    place: int


@dataclass(frozen=True, slots=True)
class Cell:
    """The number of cases (or pairs) with one expected class that were answered with one actual class."""

    expected: str
    actual: str
    count: int
    row_total: int
    column_total: int
    # What its cases cost, where that is asked for and any of them says.
    cost: Cost | None = None
    # Of a called class that is divided: which part of it this is; and the same of an expected one.
    part: Part | None = None
    expected_part: Part | None = None
    # The sums over the examples of its row, where those have several trials or calls; of the whole matrix it passes.
    row_sums: ExampleSums | None = None

    @property
    def called(self) -> str:
        """The class that was called: `actual`, or the whole that it is a part of."""
        return self.part.whole if self.part else self.actual

    @property
    def expected_class(self) -> str:
        """The class that was expected: `expected`, or the whole that it is a part of."""
        return self.expected_part.whole if self.expected_part else self.expected

    @property
    def expected_value(self) -> str:
        """The value that the gold names, where classes are divided by it."""
        return self.expected_part.status if self.expected_part else ""

    @property
    def arguments(self) -> str:
        """The verdict on the arguments, where classes are divided by it."""
        return self.part.status if self.part else ""

    @property
    def right(self) -> bool:
        """Return whether nothing is wrong with it: called as expected, and with right arguments as far as is known."""
        return self.expected_class == self.called and self.arguments != "failed"

    @property
    def row_share(self) -> float | None:
        return self.count / self.row_total if self.row_total else None

    @property
    def column_share(self) -> float | None:
        return self.count / self.column_total if self.column_total else None

    @property
    def spent(self) -> float | None:
        """Return what its cases cost together, as far as they say."""
        return None if self.cost is None else float(self.cost.total)

    @property
    def costed(self) -> int | None:
        """Return how many of its cases say what they cost."""
        return None if self.cost is None else self.cost.known

    @property
    def rate(self) -> Rate:
        """The share of its row, with interval."""
        return rate(self.count, self.row_total, self.row_sums)


class Cells(Sequence[Cell]):
    """Cells of a matrix in some order, each made when it is looked at: there may be tens of thousands.

    `keys` are their (expected, actual).
    """

    def __init__(self, cell: Callable[[str, str], Cell], keys: Sequence[tuple[str, str]]) -> None:
        self.keys = keys
        self._cell = cell

    @overload
    def __getitem__(self, place: int) -> Cell: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Cell, ...]: ...

    def __getitem__(self, place: int | slice) -> Cell | tuple[Cell, ...]:
        if isinstance(place, slice):
            return tuple(self._cell(*key) for key in self.keys[place])
        return self._cell(*self.keys[place])

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


class Order(StrEnum):
    """The order of rows and columns."""

    ERROR = "error"
    SUPPORT = "support"
    NAME = "name"
    # Confusable groups together.
    CLUSTER = "cluster"


# Not slotted: the derived lists are kept once they are made.
@dataclass(frozen=True)
class Matrix:
    """Counts above zero, and the classes in order. `rows` are the classes that were expected at least once.

    `parts` says of each column that is a part of a class which, `row_parts` of each row; rates of whole classes are
    what they are undivided.
    `blocks` are the numbers of the blocks in which classes stand, where not all stand in one.
    `sums` are those over examples by ("recall", "precision" or "f1", class) and ("accuracy", ""), none where every
    count is an example of its own. Under filters they tell how much alike an example's trials are.
    """

    counts: Mapping[tuple[str, str], int]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_totals: Mapping[str, int]
    column_totals: Mapping[str, int]
    costs: Mapping[tuple[str, str], Cost] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    blocks: Mapping[str, int] = field(default_factory=dict)
    row_parts: Mapping[str, Part] = field(default_factory=dict)
    sums: Mapping[tuple[str, ...], ExampleSums] = field(default_factory=dict)

    @cached_property
    def total(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def accuracy(self) -> Rate:
        """Right cells among all."""
        return rate(sum(self._met.values()), self.total, self.sums_of("accuracy", ""))

    @cached_property
    def cells(self) -> Cells:
        """The cells that hold something, row by row."""
        rows = {name: place * len(self.columns) for place, name in enumerate(self.rows)}
        columns = {name: place for place, name in enumerate(self.columns)}
        # Numbers sort in a fraction of the time that a key function takes.
        places = {rows[expected] + columns[actual]: (expected, actual) for expected, actual in self.counts}
        return Cells(self.cell, [places[place] for place in sorted(places)])

    @cached_property
    def confusions(self) -> Cells:
        """The cells off the diagonal, largest first; of equal ones those with the larger share of their row."""
        ranks = {name: rank for rank, name in enumerate(sorted({*self.rows, *self.columns}))}
        right = self.right_cells
        more, many = 1 + max(self.row_totals.values(), default=0), len(ranks)
        # One number of four: the count, the row's total, the ranks of both names.
        one_more = more * many * many
        of_row = {name: (self.row_totals[name] * many + ranks[name]) * many for name in self.rows}
        places = {
            of_row[expected] - one_more * count + ranks[actual]: (expected, actual)
            for (expected, actual), count in self.counts.items()
            if (expected, actual) not in right
        }
        return Cells(self.cell, [places[place] for place in sorted(places)])

    def cell(self, expected: str, actual: str) -> Cell:
        """Return one cell, of count 0 where nothing was counted."""
        return Cell(
            expected,
            actual,
            self.counts.get((expected, actual), 0),
            self.row_totals.get(expected, 0),
            self.column_totals.get(actual, 0),
            self.costs.get((expected, actual)),
            self.parts.get(actual),
            self.row_parts.get(expected),
            self._row_sums(expected, actual) if self.sums else None,
        )

    def _row_sums(self, expected: str, actual: str) -> ExampleSums | None:
        """Return the sums of a row, of which the cell passes where it is known how it falls on the examples."""
        row, own = self.sums_of("recall", self.expected(expected)), self.sums.get(("cell", expected, actual))
        return row.of_part(own) if row and own else row

    def called(self, actual: str) -> str:
        """Return the class that a column is, or is a part of."""
        part = self.parts.get(actual)
        return part.whole if part else actual

    def expected(self, row: str) -> str:
        """Return the class that a row is, or is a part of."""
        part = self.row_parts.get(row)
        return part.whole if part else row

    @cached_property
    def right_cells(self) -> frozenset[tuple[str, str]]:
        """The cells in which nothing is wrong, as `Cell.right` has it, whether they hold anything or not."""
        wrong = {name for name, part in self.parts.items() if part.status == "failed"}
        return frozenset(key for key in self._diagonal if key[1] not in wrong)

    def count_of(self, expected: str, called: str) -> int:
        """Return how many with one expected class called another, whatever they are divided in."""
        rows = [row for row in self.rows if self.expected(row) == expected]
        columns = [column for column in self.columns if self.called(column) == called]
        return sum(self.counts.get((row, column), 0) for row in rows for column in columns)

    @cached_property
    def _diagonal(self) -> list[tuple[str, str]]:
        """The cells in which the called class is the expected one, whatever they are divided in."""
        rows: dict[str, list[str]] = {}
        for row in self.row_parts and self.rows:
            rows.setdefault(self.expected(row), []).append(row)
        wholes = ((self.called(column), column) for column in self.columns)
        return [(row, column) for whole, column in wholes for row in rows.get(whole, (whole,))]

    @cached_property
    def _met(self) -> Mapping[str, int]:
        """Return how many of each row were called as expected."""
        met = Counter[str]()
        for row, column in self._diagonal:
            met[row] += self.counts.get((row, column), 0)
        return met

    @cached_property
    def _hit(self) -> Mapping[str, int]:
        """Return how many of each column were expected as called."""
        hit = Counter[str]()
        for row, column in self._diagonal:
            hit[column] += self.counts.get((row, column), 0)
        return hit

    def recall(self, name: str) -> Rate:
        """Return how many of those that expected `name` got it."""
        return rate(self._met.get(name, 0), self.row_totals.get(name, 0), self.sums_of("recall", name))

    def precision(self, name: str) -> Rate:
        """Return how many of those that got `name` expected it."""
        return rate(self._hit.get(name, 0), self.column_totals.get(name, 0), self.sums_of("precision", name))

    def sums_of(self, which: str, name: str) -> ExampleSums | None:
        """Return the sums of a class; of several classes taken as one those of all cells."""
        return self.sums.get((which, name), self.sums.get(("accuracy", "")))

    def confused_only(self) -> Matrix:
        """Return the matrix without the classes that have no confusions; sums stay those of the whole."""
        wrong = self.counts.keys() - self.right_cells
        return self.limited({name for row, actual in wrong for name in (self.expected(row), self.called(actual))})

    def found(self, wanted: str) -> Matrix:
        """Return the classes whose name holds `wanted`, in any case, with those that they are confused with.

        Of these others what is right stays as well: their recall and precision are those of the whole.
        """
        wanted = wanted.casefold()
        wholes = (*map(self.expected, self.rows), *map(self.called, self.columns))
        hit = {name for name in wholes if wanted in name.casefold()}
        keys = {key: (self.expected(key[0]), self.called(key[1])) for key in self.counts}
        beside = {name for classes in keys.values() if hit.intersection(classes) for name in classes}
        limited = self.limited(hit | beside)
        kept = {
            key: count
            for key, count in limited.counts.items()
            if keys[key][0] == keys[key][1] or hit.intersection(keys[key])
        }
        return replace(limited, counts=kept)

    def limited(self, names: Collection[str]) -> Matrix:
        """Return the matrix of some classes with all their parts; sums stay those of the whole."""
        columns = tuple(name for name in self.columns if self.called(name) in names)
        if columns == self.columns:
            return self
        rows = tuple(name for name in self.rows if self.expected(name) in names)
        held, drawn = set(rows), set(columns)
        return replace(
            self,
            counts={key: count for key, count in self.counts.items() if key[0] in held and key[1] in drawn},
            rows=rows,
            columns=columns,
        )


def matrix_of(
    counts: Mapping[tuple[str, str], int],
    order: Order = Order.ERROR,
    costs: Mapping[tuple[str, str], Cost] | None = None,
    *,
    parts: Mapping[str, Part] | None = None,
    blocks: Mapping[str, int] | None = None,
    row_parts: Mapping[str, Part] | None = None,
    sums: Mapping[tuple[str, ...], ExampleSums] | None = None,
) -> Matrix:
    """Return the matrix of `counts` by (expected, actual), with what its cells cost and the sums over its examples.

    Classes are ordered as wholes, their parts by place; classes of one block stand together.
    """
    if parts or row_parts:
        whole = matrix_of(_undivided(counts, parts or {}, row_parts or {}), order, blocks=blocks, sums=sums)
        return _divided(whole, counts, costs or {}, parts or {}, row_parts or {})
    held = {key: count for key, count in counts.items() if count}
    row_totals, column_totals = _totals(held)
    names = row_totals.keys() | column_totals.keys()
    errors = {name: row_totals[name] + column_totals[name] - 2 * held.get((name, name), 0) for name in names}
    keys: dict[Order, Callable[[str], tuple[object, ...]]] = {
        Order.NAME: lambda name: (name,),
        Order.SUPPORT: lambda name: (-row_totals[name], -column_totals[name], name),
        Order.ERROR: lambda name: (-errors[name], -row_totals[name], name),
    }
    tools = sorted(names.difference(SPECIAL), key=keys.get(order, keys[Order.NAME]))
    if order is Order.CLUSTER:
        tools = confusable_order(tools, held)
    if blocks:
        tools.sort(key=lambda name: blocks.get(name, 0))
    columns = (*tools, *(name for name in SPECIAL if name in names))
    rows = tuple(name for name in columns if name in row_totals)
    return Matrix(held, rows, columns, row_totals, column_totals, costs or {}, blocks=blocks or {}, sums=sums or {})


def classes_by_support(row_totals: Mapping[str, int], column_totals: Mapping[str, int]) -> tuple[str, ...]:
    """Return the classes of these totals as `Order.SUPPORT` has them: those expected most first, special ones last."""
    names = row_totals.keys() | column_totals.keys()
    tools = sorted(
        names.difference(SPECIAL), key=lambda name: (-row_totals.get(name, 0), -column_totals.get(name, 0), name)
    )
    return (*tools, *(name for name in SPECIAL if name in names))


def _totals(counts: Mapping[tuple[str, str], int]) -> tuple[Counter[str], Counter[str]]:
    """Return the sums of the rows and of the columns."""
    rows: defaultdict[str, int] = defaultdict(int)
    columns: defaultdict[str, int] = defaultdict(int)
    for (expected, actual), count in counts.items():
        rows[expected] += count
        columns[actual] += count
    return Counter(rows), Counter(columns)


def _undivided(
    counts: Mapping[tuple[str, str], int], parts: Mapping[str, Part], row_parts: Mapping[str, Part]
) -> dict[tuple[str, str], int]:
    found = Counter[tuple[str, str]]()
    for (expected, actual), count in counts.items():
        whole = row_parts[expected].whole if expected in row_parts else expected
        found[whole, parts[actual].whole if actual in parts else actual] += count
    return found


def _divided(
    whole: Matrix,
    counts: Mapping[tuple[str, str], int],
    costs: Mapping[tuple[str, str], Cost],
    parts: Mapping[str, Part],
    row_parts: Mapping[str, Part],
) -> Matrix:
    """Return a matrix with the parts of its classes as rows and columns; a class that was never called stays whole."""
    held = {key: count for key, count in counts.items() if count}
    row_totals, column_totals = _totals(held)
    never = (name for name in whole.columns if not whole.column_totals[name])
    return replace(
        whole,
        counts=held,
        rows=_in_order(row_totals, row_parts, whole.rows),
        columns=_in_order({*column_totals, *never}, parts, whole.columns),
        row_totals=row_totals,
        column_totals=column_totals,
        costs=costs,
        parts=parts,
        row_parts=row_parts,
    )


def _in_order(names: Iterable[str], parts: Mapping[str, Part], wholes: Sequence[str]) -> tuple[str, ...]:
    """Return names in the order of their wholes, and of one whole by their place in it."""
    places = {name: place for place, name in enumerate(wholes)}

    def place(name: str) -> tuple[int, int]:
        part = parts.get(name)
        return (places[part.whole], part.place) if part else (places[name], -1)

    return tuple(sorted(names, key=place))
