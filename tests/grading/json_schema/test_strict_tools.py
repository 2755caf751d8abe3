"""Test which tools go in strict mode, and how a schema is changed so that it fits."""

from typing import Any

import pytest
from hypothesis import given

from tests.grading.json_schema.test_strict_mode import GOOD
from tests.grading.reading.specs.test_hostile_documents import SCHEMA_LIKE
from toolevals.grading.json_schema.strict_mode import PROVIDERS, strict_problems
from toolevals.grading.json_schema.strict_tools import strict_names, strict_schema, tool_strict_problems
from toolevals.grading.values import ToolSpec

LOOSE: dict[str, Any] = {
    "properties": {
        "city": {"type": "string", "description": "Where.", "minLength": 2},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "days": {"type": "array", "items": {"type": "string", "format": "day"}, "minItems": 3},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}}},
    },
    "required": ["city"],
}


def closed(name: str, optional: int = 0) -> ToolSpec:
    properties = {f"p{number}": {"type": "string"} for number in range(optional)}
    schema = {"type": "object", "properties": properties, "required": [], "additionalProperties": False}
    return ToolSpec(name, "", schema)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_loose_schema_is_changed_until_it_fits(provider):
    assert strict_problems(LOOSE, provider)
    changed = strict_schema(LOOSE, provider)
    assert strict_problems(changed, provider) == []
    assert strict_schema(changed, provider) == changed


def test_what_may_be_left_out_is_null_and_what_is_dropped_stands_in_the_description():
    changed = strict_schema(LOOSE, "openai")
    assert changed["required"] == ["city", "unit", "days", "where"]
    assert changed["properties"]["city"] == {"type": "string", "description": "Where. (minLength: 2)"}
    assert changed["properties"]["unit"] == {"type": ["string", "null"], "enum": ["C", "F", None]}
    assert changed["properties"]["days"]["items"] == {"type": "string", "description": 'format: "day"'}
    assert changed["properties"]["days"]["minItems"] == 3
    assert changed["properties"]["where"] == {
        "type": ["object", "null"],
        "properties": {"lat": {"type": ["number", "null"]}},
        "required": ["lat"],
        "additionalProperties": False,
    }
    assert "required" not in strict_schema(LOOSE, "anthropic")["properties"]["where"]
    assert LOOSE["properties"]["city"]["minLength"] == 2


def test_what_cannot_be_said_otherwise_stays_and_is_named():
    free = {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}
    assert [problem.pointer for problem in strict_problems(strict_schema(free, "openai"), "openai")] == [
        "/properties/a"
    ]
    either = {"type": "object", "properties": {"a": {"not": {"type": "null"}}}}
    left = [problem.pointer for problem in strict_problems(strict_schema(either, "anthropic"), "anthropic")]
    assert left == ["/properties/a/not"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_that_fits_stays_as_it_is(provider):
    if not strict_problems(GOOD, provider):
        assert strict_schema(GOOD, provider) == GOOD


@pytest.mark.parametrize("provider", PROVIDERS)
@given(SCHEMA_LIKE)
def test_hostile_schemas_break_nothing(provider, schema):
    if isinstance(schema, dict):
        strict_problems(strict_schema(schema, provider), provider)


def test_only_tools_that_fit_are_named():
    tools = [closed("a"), ToolSpec("b", "", LOOSE), ToolSpec("c", "", {"type": 3})]
    assert strict_names(tools, "openai") == strict_names(tools, "anthropic") == {"a"}
    assert "is not used" in tool_strict_problems(tools[2], "openai")[0].message


def test_what_all_strict_tools_hold_together_is_limited():
    assert strict_names([closed("a", 20), closed("b", 5), closed("c", 4)], "anthropic") == {"a", "c"}
    many = [closed(f"t{number}") for number in range(25)]
    assert strict_names(many, "anthropic") == {f"t{number}" for number in range(20)}
    assert len(strict_names(many, "openai")) == 25


def test_definitions_that_nothing_refers_to_are_left_out():
    free = {"type": "object"}
    definitions = {
        "Used": {"type": "object", "properties": {"own": {"$ref": "#/$defs/Own"}}},
        "Own": GOOD,
        "Free": free,
    }
    schema = {"type": "object", "properties": {"used": {"$ref": "#/$defs/Used"}}, "$defs": definitions}
    changed = strict_schema(schema, "openai")
    assert set(changed["$defs"]) == {"Used", "Own"}
    assert strict_problems(schema, "openai")
    assert not strict_problems(changed, "openai")
    unused = {"type": "object", "properties": {}, "$defs": {"Free": free}}
    assert "$defs" not in strict_schema(unused, "openai")
    # Where something else may be referred to, all stay.
    assert set(strict_schema({**schema, "items": {"$ref": "#free"}}, "openai")["$defs"]) == set(definitions)
