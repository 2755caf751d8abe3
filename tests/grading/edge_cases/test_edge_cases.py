"""Edge cases: which a tool admits, which a call exercises, which failures are nothing more."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.strategies import json_values
from toolevals.grading.edge_cases import (
    BUCKET_SENTENCES,
    EDGE_CASE_SENTENCES,
    MISSING,
    EdgeCase,
    FailureBucket,
    applicable_kinds,
    argument_failure_bucket,
    call_failure_bucket,
    edge_case_kinds,
    edge_of_difference,
    edge_of_values,
)
from toolevals.grading.edge_cases.parameters import MAX_PARAMETERS
from toolevals.grading.json_schema.strict_mode import PROVIDERS
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.verdicts import ArgumentDifference

DOCS = Path(__file__).parents[3] / "docs" / "grading.md"
NULL, EMPTY, LETTERS, ZONE, MONEY, TYPE = EdgeCase
BOOK = ToolSpec(
    "book",
    "",
    {
        "type": "object",
        "properties": {
            "customerName": {"type": "string"},
            "starts_at": {"type": "string"},
            "day": {"type": "string", "format": "date"},
            "price": {"type": "number"},
            "currency": {"enum": ["USD", "EUR"]},
            "nights": {"type": "integer"},
            "kind": {"enum": ["single", "double"]},
            "guests": {"type": "array", "items": {"$ref": "#/$defs/guest"}},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "fee": {"type": "string", "description": "In dollars."},
        },
        "required": [
            "customerName",
            "starts_at",
            "day",
            "price",
            "currency",
            "nights",
            "kind",
            "guests",
            "note",
            "fee",
        ],
        "$defs": {
            "guest": {
                "type": "object",
                "properties": {"passport_id": {"type": "string", "pattern": "^[A-Z]+$"}, "vip": {"type": "boolean"}},
                "required": ["passport_id"],
            }
        },
    },
)


def test_every_kind_and_bucket_has_its_sentence():
    assert set(EDGE_CASE_SENTENCES) == set(EdgeCase)
    assert set(BUCKET_SENTENCES) == set(FailureBucket)


@pytest.mark.parametrize("name", [*EdgeCase, *FailureBucket, *PROVIDERS])
def test_every_name_is_documented(name):
    assert f"`{name}`" in DOCS.read_text("utf-8")


def test_a_tools_parameters_admit_their_edge_cases():
    assert applicable_kinds(BOOK) == {
        "/customerName": {LETTERS},
        "/starts_at": {ZONE},
        "/day": {ZONE},
        "/price": {MONEY, TYPE},
        "/nights": {TYPE},
        "/guests": {EMPTY},
        "/guests/*/vip": {NULL, TYPE},
        "/note": {NULL},
        "/fee": {MONEY},
    }


@pytest.mark.parametrize(
    ("name", "schema", "kind", "admits"),
    [
        ("n", {"type": ["integer", "string"]}, TYPE, False),
        ("n", {"const": 3}, TYPE, True),
        ("tags", {"type": "array", "minItems": 1}, EMPTY, False),
        ("anything", {}, EMPTY, True),
        ("total_pages", {"type": "integer"}, MONEY, False),
        ("amountCents", {"type": "integer"}, MONEY, True),
        ("when", {"type": "string", "format": "uuid"}, ZONE, False),
        ("moment", {"type": "string", "description": "ISO 8601."}, ZONE, True),
        ("contact", {"type": "string"}, LETTERS, True),
        ("text", {"type": "string", "format": "email"}, LETTERS, True),
        ("name", {"allOf": [{"type": "string"}]}, LETTERS, True),
    ],
)
def test_names_formats_and_descriptions_say_what_a_parameter_is_about(name, schema, kind, admits):
    tool = ToolSpec("t", "", {"properties": {name: schema}, "required": [name]})
    assert (kind in applicable_kinds(tool).get(f"/{name}", frozenset())) is admits


def test_recursive_and_giant_schemas_end():
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"$ref": "#/none"}}}
    assert 100 < len(applicable_kinds(ToolSpec("t", "", tree))) <= MAX_PARAMETERS
    wide = {"type": "object", "properties": {str(n): {"type": "integer"} for n in range(5_000)}}
    assert len(applicable_kinds(ToolSpec("t", "", wide))) == MAX_PARAMETERS


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({}, set()),
        ({"customerName": "Ann", "nights": 3, "price": 45.0, "day": "2025-04-03"}, set()),
        ({"customerName": "José", "note": "día"}, {LETTERS}),
        ({"note": "día"}, set()),
        ({"имя": 1}, {LETTERS}),
        ({"note": None}, {NULL}),
        ({"guests": []}, {EMPTY}),
        ({"guests": [{"passport_id": "A", "vip": None}]}, {NULL}),
        ({"starts_at": "2025-04-03T10:00:00+02:00"}, {ZONE}),
        ({"starts_at": "10:00"}, {ZONE}),
        ({"starts_at": "Europe/Berlin"}, {ZONE}),
        ({"note": "Europe/Berlin"}, set()),
        ({"price": 45, "currency": "EUR"}, {MONEY}),
        ({"note": "$45.00"}, {MONEY}),
        ({"nights": "3"}, {TYPE}),
        ({"note": "true"}, {TYPE}),
        ({"note": "02139"}, {TYPE}),
    ],
)
def test_a_call_exercises_edge_cases(arguments, kinds):
    assert edge_case_kinds(BOOK, arguments) == kinds


def test_without_a_tool_values_alone_tell():
    assert edge_case_kinds(None, {"a": None, "b": "José", "c": "45 USD"}) == {NULL, MONEY}


@pytest.mark.parametrize(
    ("expected", "actual", "name", "edge"),
    [
        (None, MISSING, "", NULL),
        (None, "", "", NULL),
        ([], MISSING, "", EMPTY),
        ([], None, "", EMPTY),
        ("x", MISSING, "", None),
        ("", MISSING, "", None),
        (None, "x", "", None),
        (False, MISSING, "", None),
        ("José", "Jose", "", LETTERS),
        ("Jose\u0301", "José", "", LETTERS),
        ("ＡＢＣ", "ABC", "", LETTERS),
        ("pаypal", "paypal", "", LETTERS),
        ("O’Brien", "O'Brien", "", LETTERS),
        ("a\u200bb", "ab", "", LETTERS),
        ("Straße", "Strasse", "", LETTERS),
        ("José", "josé", "", None),
        ("José", "Joan", "", None),
        ("Jose", "jose", "", None),
        ("2025-04-03T10:00:00+02:00", "2025-04-03T08:00:00Z", "", ZONE),
        ("2025-04-03T10:00:00Z", "2025-04-03T10:00:00", "", ZONE),
        ("2025-04-03T10:00:00Z", "2025-04-03T10:00:00+02:00", "", ZONE),
        ("2025-04-03T10:00 Europe/Berlin", "2025-04-03 10:00", "", ZONE),
        ("2025-04-03T10:00[Europe/Berlin]", "2025-04-03T10:00[Asia/Tokyo]", "", ZONE),
        ("10:00", "10:00Z", "", ZONE),
        ("2025-04-03T10:00", "2025-04-03 10:00", "", None),
        ("2025-04-03T10:00:00Z", "2025-04-03T11:00:00Z", "", None),
        ("2025-04-03", "2025-04-04", "", None),
        (45, "$45.00", "", MONEY),
        ("45 USD", "45 EUR", "", MONEY),
        ("$45.00", 4500, "", MONEY),
        ("4,500 cents", "$45", "", MONEY),
        (45, 4500, "price", MONEY),
        (45, 4500, "nights", None),
        (45, 46, "price", None),
        ("$45", "$45.00", "", None),
        ("45 XYZ", 45, "", None),
        ("5", 5, "", TYPE),
        ("5.0", 5, "", TYPE),
        ("+1", 1, "", TYPE),
        ("True", True, "", TYPE),
        (1, True, "", TYPE),
        ("None", None, "", TYPE),
        ("a", ["a"], "", TYPE),
        ("5", [5], "", TYPE),
        ("a, b", ["a", "b"], "", TYPE),
        ('{"a": [1]}', {"a": [1]}, "", TYPE),
        ("5", 6, "", None),
        ("a", ["b"], "", None),
        ("no", None, "", None),
        (2, True, "", None),
        ({"a": 1}, {"a": 1}, "", None),
        ("x", "y", "", None),
    ],
)
def test_a_difference_is_an_edge_case_or_more(expected, actual, name, edge):
    assert edge_of_values(expected, actual, name) == edge
    assert edge_of_values(actual, expected, name) == edge


def difference(expected: Any, actual: Any, kind: Any = "changed", path: str = "/a") -> ArgumentDifference:
    return ArgumentDifference(path, expected, actual, kind)


@pytest.mark.parametrize(
    ("found", "edge"),
    [
        (difference({"exact": None}, None, "missing"), NULL),
        (difference({"exact": 3}, None, "missing"), None),
        (difference(None, None, "extra"), NULL),
        (difference(None, [], "extra"), EMPTY),
        (difference(None, "x", "extra"), None),
        (difference({"absent": True}, None, "extra"), NULL),
        (difference({"absent": True}, 3, "extra"), None),
        (difference({"one_of": ["a", "5"]}, 5), TYPE),
        (difference({"date_equal": "2025-04-03T10:00:00Z"}, "2025-04-03T10:00:00"), ZONE),
        (difference({"date_equal": {"date": "2025-04-03T10:00:00Z", "formats": []}}, "2025-04-03T10:00:00"), ZONE),
        (difference({"exact": 45}, 4500, path="/total/amount"), MONEY),
        (difference({"range": [1, 5]}, "5"), None),
        (difference({"pattern": "^a"}, "á"), None),
    ],
)
def test_matchers_are_compared_by_the_values_that_they_name(found, edge):
    assert edge_of_difference(found) == edge
    bucket = "semantic" if edge is None else "edge_case"
    assert argument_failure_bucket(found, breaks_schema=False) == bucket
    assert argument_failure_bucket(found, breaks_schema=True) == "schema"


def test_a_calls_bucket_is_the_gravest_of_its_arguments():
    same, edge, wrong = difference({"exact": 1}, 1, "same"), difference({"exact": 5}, "5"), difference({"exact": 5}, 6)
    assert call_failure_bucket([same], breaks_schema=False) is None
    assert call_failure_bucket([same, edge], breaks_schema=False) == "edge_case"
    assert call_failure_bucket([edge, wrong], breaks_schema=False) == "semantic"
    assert call_failure_bucket([same], breaks_schema=True) == "schema"


texts = st.sampled_from(
    ["5", "true", "null", "$5", "5 cents", "10:00Z", "2025-04-03T10:00Z", "José", "Jose", "[5]", ""]
)
values = texts | st.sampled_from([5, 500, True, None, [], ["5"], 5.0, {"a": 5}, MISSING]) | json_values


@given(values, values, st.sampled_from(["price", "a"]))
def test_the_edge_between_two_values_is_symmetric(one, other, name):
    assert edge_of_values(one, other, name) == edge_of_values(other, one, name)


@given(st.integers(-(2**40), 2**40), st.integers(-120, 120), st.sampled_from(["price", "a"]))
def test_whole_numbers_differ_as_the_same_ones_with_a_point_do(one, other, name):
    for amount in (other, one * 100, one):
        assert edge_of_values(one, amount, name) == edge_of_values(float(one), float(amount), name)


@given(values, st.sampled_from(["price", "a"]))
def test_no_edge_lies_between_a_value_and_itself(value, name):
    assert value is MISSING or edge_of_values(value, value, name) is None


@given(json_values, st.dictionaries(st.sampled_from(["price", "name", "at"]), json_values, max_size=3))
def test_whatever_the_schema_and_the_call_there_is_an_answer(schema, arguments):
    tool = ToolSpec("t", "", {"type": "object", "properties": {"price": schema}, "anyOf": schema, "items": schema})
    assert edge_case_kinds(tool, arguments) <= set(EdgeCase)


def test_long_text_costs_no_more_than_its_length():
    assert edge_of_values("é" * 1_000_000, "e" * 1_000_000) is None
    assert edge_of_values("9" * 1_000_000, 9) is None
    assert edge_of_values("[" * 100_000, []) is None
