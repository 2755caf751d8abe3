"""Test which schemas strict mode takes."""

from typing import Any

import pytest
from hypothesis import given

from tests.grading.reading.specs.test_hostile_documents import SCHEMA_LIKE
from toolevals.grading.json_schema.strict_mode import PROVIDERS, circles, strict_problems

GOOD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where."},
        "unit": {"type": ["string", "null"], "enum": ["C", "F", None]},
        "days": {"type": "array", "items": {"type": "string", "format": "date"}},
        "where": {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "null"}]},
    },
    "required": ["city", "unit", "days", "where"],
    "additionalProperties": False,
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"lat": {"type": "number"}},
            "required": ["lat"],
            "additionalProperties": False,
        }
    },
}
# Gemini takes no null among enum values.
WITHOUT_ENUM = {**GOOD, "properties": {**GOOD["properties"], "unit": {"type": ["string", "null"]}}}


def with_property(schema: Any, **more: Any) -> dict[str, Any]:
    """Return a good schema with one required property `a` more."""
    properties = {**WITHOUT_ENUM["properties"], "a": schema}
    return {**WITHOUT_ENUM, "properties": properties, "required": list(properties), **more}


def pointers(schema: Any, provider: Any) -> list[str]:
    return [problem.pointer for problem in strict_problems(schema, provider)]


def test_a_schema_that_keeps_all_rules_is_taken():
    assert strict_problems(GOOD, "openai") == []
    assert strict_problems(GOOD, "anthropic") == []
    for provider in PROVIDERS:
        assert strict_problems(WITHOUT_ENUM, provider) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_root_is_an_object(provider):
    assert pointers(3, provider) == [""]
    assert "" in pointers({"type": "array", "items": {"type": "string"}}, provider)
    assert "/properties/x/$ref" in pointers({**GOOD, "properties": {"x": {"$ref": "https://example.org/x"}}}, provider)


@pytest.mark.parametrize(
    ("schema", "refused_by"),
    [
        ({"type": "string", "minLength": 1},
         {"openai": "/minLength", "anthropic": "/minLength", "gemini": "/minLength"}),
        ({"type": "string", "pattern": "^a"}, {"gemini": "/pattern"}),
        ({"type": "string", "pattern": "(?=a)b"}, {"anthropic": "/pattern", "gemini": "/pattern"}),
        ({"type": "string", "pattern": r"\bword"}, {"anthropic": "/pattern", "gemini": "/pattern"}),
        ({"type": "string", "format": "uri"}, {"openai": "/format"}),
        ({"type": "string", "format": "phone"}, {"openai": "/format", "anthropic": "/format"}),
        ({"type": "string", "default": "x"}, {"openai": "/default", "gemini": "/default"}),
        ({"type": "number", "minimum": 1}, {"anthropic": "/minimum"}),
        ({"type": "number", "multipleOf": 2}, {"anthropic": "/multipleOf", "gemini": "/multipleOf"}),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, {}),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, {"anthropic": "/minItems"}),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True},
         {"openai": "/uniqueItems", "anthropic": "/uniqueItems", "gemini": "/uniqueItems"}),
        ({"type": "array"}, {"openai": ""}),
        ({"description": "Anything."}, {"openai": ""}),
        (True, {"openai": ""}),
        ({"enum": ["a", {"b": 1}]}, {"anthropic": "/enum", "gemini": "/enum"}),
        ({"enum": ["a", None]}, {"gemini": "/enum"}),
        ({"const": "a"}, {"gemini": "/const"}),
        ({"oneOf": [{"type": "string"}]}, {"openai": "/oneOf", "anthropic": "/oneOf"}),
        ({"allOf": [{"type": "string"}]}, {"openai": "/allOf", "gemini": "/allOf"}),
        ({"not": {"type": "string"}, "type": "number"}, {"openai": "/not", "anthropic": "/not", "gemini": "/not"}),
        ({"$ref": "#/$defs/place", "description": "Here."}, {"gemini": "/description"}),
        ({"type": "object", "properties": {}}, {"openai": "", "anthropic": ""}),
        ({"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": False},
         {"openai": "/properties/b"}),
    ],
)  # fmt: skip
def test_each_provider_refuses_its_own(schema, refused_by):
    for provider in PROVIDERS:
        expected = [f"/properties/a{refused_by[provider]}"] if provider in refused_by else []
        assert pointers(with_property(schema), provider) == expected


def test_anthropic_takes_no_reference_inside_all_of():
    schema = with_property({"allOf": [{"$ref": "#/$defs/place"}]})
    assert pointers(schema, "anthropic") == ["/properties/a/allOf/0/$ref"]


def test_openai_takes_no_union_at_the_root():
    assert pointers({**GOOD, "anyOf": [{"$ref": "#/$defs/place"}]}, "openai") == ["/anyOf"]


def test_gemini_wants_plain_names():
    schema = {"type": "object", "properties": {"a-b": {"type": "string"}, "_c": {"type": "string"}}}
    assert pointers(schema, "gemini") == ["/properties/a-b"]


def node(*, required: bool, keyword: str = "properties") -> dict[str, Any]:
    schema = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": False}
    if required:
        schema["required"] = ["next"]
    return with_property({"$ref": "#/$defs/node"}, **{"$defs": {**GOOD["$defs"], "node": schema}})


def test_recursion_is_taken_by_openai_refused_by_anthropic_and_taken_by_gemini_where_it_is_optional():
    at = "/$defs/node/properties/next/$ref"
    assert pointers(node(required=True), "openai") == []
    assert pointers(node(required=True), "anthropic") == [at]
    assert pointers(node(required=False), "anthropic") == [at]
    assert pointers(node(required=True), "gemini") == [at]
    assert pointers(node(required=False), "gemini") == []


def test_circles_are_found_wherever_they_go():
    through_two = {
        "$defs": {
            "a": {"properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
            "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/c"}]},
            "c": {"type": "string"},
        },
        "properties": {"x": {"$ref": "#/$defs/a"}, "self": {"$ref": "#"}},
    }
    found = {(circle.reference.pointer, circle.optional) for circle in circles(through_two)}
    assert found == {("/$defs/b/anyOf/0/$ref", False), ("/properties/self/$ref", True)}
    assert circles({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}}, "$ref": "#/$defs/a"}) == []


def test_what_is_too_large_is_counted():
    wide = {str(n): {"type": "string"} for n in range(5_001)}
    large = {"type": "object", "properties": wide, "required": list(wide), "additionalProperties": False}
    (problem,) = strict_problems(large, "openai")
    assert problem.message == "has 5,001 properties: at most 5,000 are taken"
    (problem,) = strict_problems(with_property({"enum": list(range(1_001))}), "openai")
    assert problem.message == "has 1,001 enum values: at most 1,000 are taken"
    (problem,) = strict_problems(with_property({"const": "x" * 120_000}), "openai")
    assert "characters in names, enums and constants" in problem.message
    (problem,) = strict_problems(with_property({"enum": ["x" * 61 + str(n) for n in range(251)]}), "openai")
    assert problem.pointer == "/properties/a/enum"


def test_nesting_is_counted_in_objects():
    def levels(count: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(count):
            schema = {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
        return schema

    assert strict_problems(levels(10), "openai") == []
    (problem,) = strict_problems(levels(11), "openai")
    assert problem.pointer == "/properties/a" * 10


def test_anthropic_counts_optional_parameters_and_unions():
    optional = {str(n): {"type": "string"} for n in range(25)}
    unions = {str(n): {"type": ["string", "null"]} for n in range(17)}
    for properties, words in ((optional, "25 optional parameters"), (unions, "17 parameters of more than one type")):
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        assert words in str(strict_problems(schema, "anthropic")[-1])


@given(SCHEMA_LIKE)
def test_whatever_the_schema_there_is_an_answer(schema):
    for provider in PROVIDERS:
        for problem in strict_problems(schema, provider):
            assert problem.message
