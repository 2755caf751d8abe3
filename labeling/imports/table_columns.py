"""Find the contents of a CSV file's columns by their names, where no person names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, NamedTuple

from labeling.imports.packing import unpacked
from labeling.imports.readers.columns import argument_names, detected_targets
from labeling.imports.tables import preview
from toolevals.grading.values import ToolSpec


class NamedColumns(NamedTuple):
    """The delimiter of a table, and what each of its columns holds; "" where its name tells nothing."""

    delimiter: str
    targets: dict[str, str]

    @property
    def options(self) -> dict[str, Any]:
        """The options of the import."""
        return {"delimiter": self.delimiter, "columns": self.targets}

    @property
    def sentence(self) -> str:
        """Return what to tell the person whose file it is: every column, those that are not used too."""
        used = [
            column if column == holds else f"{column} as {holds}" for column, holds in self.targets.items() if holds
        ]
        unused = [column for column, holds in self.targets.items() if not holds]
        return f"columns by their names: {', '.join(used) or 'none'}" + (
            f"; not used: {', '.join(unused)}" if unused else ""
        )


def columns_by_name(file: IO[bytes], tools: Iterable[ToolSpec]) -> NamedColumns:
    """Return what a table's columns seem to hold, with the arguments of `tools`, which its examples are offered.

    Raises InvalidDocument where the table has no head that can be read.
    """
    with unpacked(file) as plain:
        table = preview(plain)
    return NamedColumns(table.delimiter, detected_targets(table.columns, argument_names(tools)))
