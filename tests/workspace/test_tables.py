"""Test how the rows of a table look in the REST interface, and as a file."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rest_framework import serializers

from toolevals.presentation.table import INTERVAL, Column, Table
from toolevals.workspace.models import Job
from toolevals.workspace.tables import serializer_of, table_file

TABLE = Table(
    "Row",
    "A row.",
    (
        Column("name", str, "tool.name", "Its name."),
        Column("kind", ("one", "two")),
        Column("noise", INTERVAL, optional=True),
        Column("ends", INTERVAL, many="dict", only="answer"),
        Column("cases", int, only="file"),
    ),
)
INSIDE = SimpleNamespace(low=0.1, high=0.2)
ROW = SimpleNamespace(tool=SimpleNamespace(name="=1"), kind="two", noise=None, ends={"a": INSIDE}, cases=3)


def test_an_answer_has_the_columns_that_are_not_of_the_file_alone():
    assert serializer_of(TABLE)(ROW).data == {
        "name": "=1",
        "kind": "two",
        "noise": None,
        "ends": {"a": {"low": 0.1, "high": 0.2}},
    }


def test_a_serializer_is_made_once_and_named_for_the_schema():
    assert serializer_of(TABLE) is serializer_of(TABLE)
    assert serializer_of(TABLE).__name__ == "RowSerializer"
    assert serializer_of(TABLE)().fields["name"].help_text == "Its name."


def test_columns_without_a_type_are_what_the_model_says():
    fields = serializer_of(Table("Named", "A job.", (Column("stage", None), Column("title", None))), Job)().fields
    assert list(fields) == ["stage", "title"]
    assert isinstance(fields["stage"], serializers.IntegerField)


@pytest.mark.parametrize("rows", [0, 2])
def test_a_file_has_its_head_and_is_safe(rows):
    lines = table_file("rows", TABLE, [ROW] * rows).getvalue().decode().splitlines()
    assert lines == ["name,kind,noise_low,noise_high,cases", *["'=1,two,,,3"] * rows]
