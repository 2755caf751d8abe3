"""CSV that a spreadsheet reads as data, however hostile the text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.presentation.csv import FORMULA_STARTS, ROWS_A_CHUNK, csv_stream, safe_cell


def parsed(columns: list[str], rows: list[list[Any]]) -> list[list[str]]:
    text = b"".join(csv_stream(columns, rows)).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "－1", "＋1", "＠x"])
def test_text_that_looks_like_a_formula_gets_an_apostrophe(text):
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    ("cell", "written"),
    [(-5, -5), (-0.25, -0.25), (None, ""), (True, "true"), (False, "false"), ("a-b", "a-b"), ("", "")],
)
def test_numbers_stay_numbers_and_nothing_is_empty(cell, written):
    assert safe_cell(cell) == written


def test_ids_are_text():
    assert safe_cell(UUID(int=1)) == "00000000-0000-0000-0000-000000000001"


@given(st.lists(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2)))
def test_every_text_comes_back_as_it_was_but_for_the_apostrophe(rows):
    read = parsed(["a", "b"], rows)
    assert read[0] == ["a", "b"]
    assert [[cell.removeprefix("'") for cell in row] for row in read[1:]] == [
        [cell.removeprefix("'") for cell in row] for row in rows
    ]
    assert not any(cell[:1] in FORMULA_STARTS for row in read for cell in row)


cells = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.uuids()
    | st.datetimes()
    | st.text(alphabet="=+-@\t\r\n＝a1,\"' ")
)


@given(st.lists(st.tuples(cells, st.sampled_from(["a", "b", "=a", ""]), st.integers() | st.just("-1")), max_size=12))
def test_a_file_is_what_its_cells_are_one_by_one(rows):
    alone = io.StringIO()
    writer = csv.writer(alone)
    for row in [("a", "b", "c"), *rows]:
        writer.writerow([safe_cell(cell) for cell in row])
    assert b"".join(csv_stream(["a", "b", "c"], rows)) == alone.getvalue().encode()


@given(st.lists(cells, max_size=12))
def test_a_table_of_one_column_has_a_line_for_each_row(column):
    alone = io.StringIO()
    writer = csv.writer(alone)
    writer.writerows([[safe_cell(cell)] for cell in ["a", *column]])
    assert b"".join(csv_stream(["a"], [[cell] for cell in column])) == alone.getvalue().encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_to_the_last_digit(number):
    assert float(parsed(["a"], [[number]])[1][0]) == number


def test_hostile_column_names_are_neutralised_too():
    assert parsed(["=cmd()"], []) == [["'=cmd()"]]


def test_rows_are_taken_as_they_are_sent():
    taken = 0

    def rows() -> Iterator[list[int]]:
        nonlocal taken
        for number in range(10 * ROWS_A_CHUNK):
            taken += 1
            yield [number]

    stream = csv_stream(["n"], rows())
    next(stream)
    assert taken == ROWS_A_CHUNK
