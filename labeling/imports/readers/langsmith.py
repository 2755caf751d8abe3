"""Read LangSmith's datasets: JSON Lines with an example a line, and CSV with a column for each key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.imports.parts import Settings
from toolevals.grading.files.evaluation_files.langsmith import ANSWERS, langsmith_example
from toolevals.grading.reading.examples import STRATA, ExampleRow
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonObject

_PARTS = ("inputs", "outputs", "metadata")
_OUTPUTS = frozenset((*ANSWERS, "expectation", "expected_tool", "expected_args")) - {"messages", "message"}
_METADATA = frozenset((*STRATA, "rationale", "external_id"))
_TEXT = frozenset({"id", "expected_tool", *_METADATA})


def langsmith_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one LangSmith example. Raises InvalidDocument."""
    return langsmith_example(value)


def langsmith_table_row(cells: Any, settings: Settings) -> ExampleRow:
    """Return a row as an example; pointers in InvalidDocument name columns where one is at fault.

    Columns `inputs`, `outputs`, `metadata` hold JSON objects. `inputs.x`, `input_x` (and so on) and plain names hold a
    key's value: JSON where it is an object or a list, else text.
    """
    row: JsonObject = {part: {} for part in _PARTS}
    for column, text in cells.items():
        if not text.strip():
            continue
        part, key = _place(column)
        value = _cell(text, column, key)
        if key:
            row[part][key] = value
        elif part == "id":
            row["id"] = value
        elif isinstance(value, Mapping):
            row[part] |= value
        else:
            raise InvalidDocument.at(pointer_to([column]), "is not a JSON object")
    return langsmith_row(row, settings)


def _place(column: str) -> tuple[str, str]:
    """Return which part of an example a column belongs to, and its key there ("" for all of the part)."""
    name = column.strip()
    if name in (*_PARTS, "id"):
        return name, ""
    for part in _PARTS:
        for prefix in (f"{part}.", f"{part}_", f"{part.removesuffix('s')}.", f"{part.removesuffix('s')}_"):
            if name.startswith(prefix) and name != prefix:
                return part, name.removeprefix(prefix)
    if name.lower() in _OUTPUTS:
        return "outputs", name.lower()
    return ("metadata" if name in _METADATA else "inputs"), name


def _cell(text: str, column: str, key: str) -> Any:
    if key in _TEXT or (not key and column.strip() == "id"):
        return None if key == "expected_tool" and text.strip() == "null" else text
    if key and not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return load_json(text)
    except InvalidDocument as error:
        if key:
            return text
        raise InvalidDocument.at(pointer_to([column]), str(error)) from None
