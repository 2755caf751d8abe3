"""Write a table once: its columns say what its file, its answer in the REST interface and the schema of that hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Literal

from toolevals.presentation.csv import Cell

# The ends of the names of columns that an object makes in a file, and where it has them.
VALUE_AND_ENDS: Final = (("", "value"), ("_low", "low"), ("_high", "high"))


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `value` is where a row has it, a path with dots, by default under its name.

    `type` is a type of cells, the words that may stand there, or a table: an object in an answer, of `many` a list or
    a dict by name. Without a type a column is what the model of its rows says. `only` is the one place where it stands.
    The schema does not promise what `may_lack`.
    """

    name: str
    type: type | tuple[str, ...] | Table | None = str
    value: str = ""
    words: str = ""
    optional: bool = False
    many: Literal["", "list", "dict"] = ""
    read_only: bool = False
    may_lack: bool = False
    only: Literal["", "file", "answer"] = ""

    @property
    def path(self) -> str:
        return self.value or self.name

    def cells(self) -> Iterator[tuple[str, str]]:
        """Yield (name, path) of its columns in a file."""
        if isinstance(self.type, Table):
            yield from ((self.name + suffix, f"{self.path}.{part}") for suffix, part in self.type.cells)
        else:
            yield self.name, self.path


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table: `name` and `words` are those of a row in the schema, `cells` what it makes of a column in a file."""

    name: str
    words: str
    columns: tuple[Column, ...]
    cells: tuple[tuple[str, str], ...] = VALUE_AND_ENDS

    @property
    def paths(self) -> dict[str, str]:
        """Return where each column of the file is in a row, in order."""
        return dict(cell for column in self.columns if column.only != "answer" for cell in column.cells())

    @property
    def head(self) -> tuple[str, ...]:
        """Return the names of the columns of the file."""
        return tuple(self.paths)

    @property
    def types(self) -> dict[str, type]:
        """Return the type of each column of the file: figures are numbers, and what a model or a list says is text."""
        return {
            name: column.type if isinstance(column.type, type) else float if isinstance(column.type, Table) else str
            for column in self.columns
            if column.only != "answer"
            for name, _ in column.cells()
        }

    @property
    def model_paths(self) -> list[str]:
        """Return the same as a database is asked, for tables whose rows are a model's."""
        return [path.replace(".", "__") for path in self.paths.values()]

    def rows(self, items: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
        """Return the rows of the file, one an item; what is not there makes none."""
        paths = [path.split(".") for path in self.paths.values()]
        return (tuple(_at(item, path) for path in paths) for item in items if item is not None)


def beneath(path: str, columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return columns of which a row has all in one place."""
    return tuple(replace(column, value=f"{path}.{column.path}") for column in columns)


def in_file(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return those columns that stand in a file, for the file alone."""
    return tuple(replace(column, only="file") for column in columns if column.only != "answer")


def in_answer(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return those columns that stand in an answer, for the answer alone."""
    return tuple(replace(column, only="answer") for column in columns if column.only != "file")


def with_interval(name: str, value: str, interval: str, named: str) -> tuple[Column, ...]:
    """Return the columns of a figure: a file has its ends after it, an answer its interval by another name."""
    return (
        Column(name, float, value, optional=True),
        Column(name, INTERVAL, interval, only="file"),
        Column(named, INTERVAL, interval, optional=True, only="answer"),
    )


def _part(item: Any, name: str) -> Any:
    if isinstance(item, Mapping):
        return item[name]
    return item[int(name)] if name.isdigit() else getattr(item, name)


def _at(item: Any, path: list[str]) -> Cell:
    """Return what a row has at a path, a list as text; nothing where it ends early."""
    for name in path:
        if item is None:
            return None
        item = _part(item, name)
    if isinstance(item, Decimal):
        return float(item)
    found: Cell = ", ".join(item) if isinstance(item, tuple | list) else item
    return found


INTERVAL: Final = Table(
    "Interval",
    "A 95 % interval.",
    (Column("low", float), Column("high", float)),
    VALUE_AND_ENDS[1:],
)
ESTIMATE: Final = Table(
    "CalibrationEstimate",
    "A figure with its 95 % interval, and how much was counted; `reason` says why there is none.",
    (
        Column("value", float, optional=True),
        Column("low", float, "interval.low", optional=True, may_lack=True),
        Column("high", float, "interval.high", optional=True, may_lack=True),
        Column("count", int),
        Column("reason"),
    ),
    (("", "value"), ("_low", "interval.low"), ("_high", "interval.high")),
)
RATE: Final = Table(
    "Rate",
    """A proportion with its 95 % interval, clustered by example; null where there is nothing to count.

    Of fewer than 20 `examples` it cannot tell whether the rate is good or weak.
    """,
    (
        Column("passed", int),
        Column("total", int),
        Column("value", float, optional=True),
        Column("low", float, optional=True),
        Column("high", float, optional=True),
        Column("examples", int),
    ),
)
