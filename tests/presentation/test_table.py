"""Test what the columns of a table make of its file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from toolevals.grading.metrics.clustered import rate
from toolevals.presentation.table import INTERVAL, RATE, Column, Table, beneath, in_file

TABLE = Table(
    "Row",
    "A row.",
    (
        Column("name", str, "tool.name"),
        Column("rate", RATE),
        Column("noise", INTERVAL, optional=True),
        Column("places", many="list"),
        Column("said", only="answer"),
        Column("cases", int, only="file"),
    ),
)


def row(**values: Any) -> SimpleNamespace:
    given: dict[str, Any] = {
        "tool": SimpleNamespace(name="search"),
        "rate": rate(1, 2),
        "noise": None,
        "places": ("a", "b"),
        "cases": 2,
    }
    return SimpleNamespace(**(given | {"cases": 2} | values))


def test_objects_make_columns_of_their_parts():
    assert TABLE.head == ("name", "rate", "rate_low", "rate_high", "noise_low", "noise_high", "places", "cases")


def test_rows_hold_what_lies_at_the_paths():
    one = rate(1, 2)
    assert list(TABLE.rows([row()])) == [("search", 0.5, one.low, one.high, None, None, "a, b", 2)]


def test_what_is_not_there_makes_no_row_and_an_empty_cell():
    assert [each[0] for each in TABLE.rows([None, row(tool=None)])] == [None]


def test_columns_of_one_place_and_of_the_file_alone():
    columns = in_file(beneath("tally", TABLE.columns))
    assert [column.name for column in columns] == ["name", "rate", "noise", "places", "cases"]
    assert {column.only for column in columns} == {"file"}
    assert columns[0].path == "tally.tool.name"


def test_a_database_is_asked_for_the_same_paths():
    assert TABLE.model_paths[:2] == ["tool__name", "rate__value"]
