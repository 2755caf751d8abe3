"""Reads lists row by row, a page at a time, and makes data frames of them where pandas is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from toolevals.json_types import JsonMapping, JsonObject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """Rows that are fetched while they are read. Each reading asks the server again; nothing is kept.

    `make` makes an object of what the server says of one, and `flat` a row of a data frame.
    """

    fetch: Callable[[], Iterator[JsonObject]]
    make: Callable[[JsonObject], T]
    flat: Callable[[JsonObject], JsonMapping] = dict

    def __iter__(self) -> Iterator[T]:
        return map(self.make, self.fetch())

    def to_pandas(self) -> Any:
        """Return a data frame with a row each, all of them in memory. Raises ImportError without the package pandas.

        A field within a field is a column of its own, as `agent.name`.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ModuleNotFoundError as error:
            raise ImportError("to_pandas() needs the package pandas: pip install pandas") from error
        return pandas.json_normalize([self.flat(row) for row in self.fetch()])
