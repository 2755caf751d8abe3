"""Whatever a document holds, reading it ends soon, in tools or in InvalidDocument."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from tests.grading.strategies import json_values
from toolevals.grading.reading.specs import FORMATS, read_tools
from toolevals.grading.values.problems import InvalidDocument

# It takes long: `./dev check` leaves it out.
pytestmark = pytest.mark.thorough

WORD_LIST = """
    type properties required items additionalProperties anyOf allOf $ref $defs enum nullable example pattern
    exclusiveMinimum minItems readOnly string object OBJECT dict array STRING #/a #/components/schemas/A # ( (?=x)
    name in path query schema content application/json parameters requestBody responses 200 get post operationId
    functionDeclarations parametersJsonSchema inputSchema outputSchema annotations readOnlyHint input_schema function
    tools result openapi 3.0.1 3.1.0 paths components schemas A /x title description minimum $id $schema
"""
WORDS = st.sampled_from(WORD_LIST.split())
LEAVES = st.one_of(WORDS, st.booleans(), st.none(), st.integers(-2, 3), st.just(10**30), st.just("10"))
SCHEMA_LIKE = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
)


def read(document: Any, format_name: str) -> None:
    """Read a document; what comes out can be kept."""
    try:
        found = read_tools(document, format=format_name)
    except InvalidDocument:
        return
    for tool in found.tools:
        assert tool.digest
    assert all(loss.message for loss in found.losses)


@pytest.mark.parametrize("format_name", ["auto", *FORMATS])
@given(document=json_values | SCHEMA_LIKE)
def test_arbitrary_json_is_read_or_refused(format_name, document):
    read(document, format_name)


@settings(max_examples=100)
@given(schema=SCHEMA_LIKE, other=SCHEMA_LIKE)
def test_arbitrary_schemas_are_read_or_refused(schema, other):
    media = {"application/json": {"schema": schema}}
    operation = {
        "parameters": [{"name": "a", "in": "query", "schema": other}, other],
        "requestBody": {"content": media},
        "responses": {"200": {"content": media}},
    }
    for version in ("3.0.3", "3.1.0"):
        paths = {"/x": {"post": operation}, "/y": other}
        read({"openapi": version, "paths": paths, "components": {"schemas": {"A": schema}}}, "auto")
    for key in ("input_schema", "inputSchema", "parameters"):
        for format_name in FORMATS:
            read([{"name": "t", key: schema, "annotations": other, "title": other, "description": other}], format_name)
    read({"functionDeclarations": [{"name": "t", "parameters": schema, "response": other}]}, "auto")


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("levels", [150, 100_000])
def test_deep_documents_are_read_or_refused(format_name, levels):
    schema = nested(levels)
    path = {"/x": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}}
    for document in (
        [{"name": "t", "input_schema": schema, "inputSchema": schema, "parameters": schema}],
        {"openapi": "3.0.0", "paths": path},
    ):
        read(document, format_name)


@pytest.mark.parametrize(
    "bad",
    [float("nan"), "\ud800", "a\0b", {1: 2}, {1}, 10**5_000],
    ids=["nan", "surrogate", "NUL", "key", "set", "giant"],
)
def test_what_is_no_json_is_refused_with_its_place(bad):
    with pytest.raises(InvalidDocument) as caught:
        read_tools([{"name": "t", "input_schema": {"default": bad}}])
    assert caught.value.problems[0].pointer.startswith("/0/input_schema/default")


def test_a_value_that_holds_itself_is_refused():
    schema: dict[str, Any] = {}
    schema["properties"] = {"a": schema, "b": schema}
    with pytest.raises(InvalidDocument, match="nested deeper"):
        read_tools([{"name": "t", "input_schema": schema}])


def test_references_that_multiply_are_refused():
    # Each schema names the next one ten times: a check applies ten to the fortieth schemas to one value.
    schemas: dict[str, Any] = {
        f"S{n}": {"anyOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 10} for n in range(40)
    } | {"S40": {"type": "integer"}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    document = {
        "openapi": "3.1.0",
        "paths": {"/x": {"post": {"requestBody": {"content": content}}}},
        "components": {"schemas": schemas},
    }
    with pytest.raises(InvalidDocument, match="its references multiply"):
        read_tools(document)


def test_many_operations_over_one_web_of_schemas_are_read_in_linear_time():
    def cost(operations: int) -> float:
        schemas = {
            f"S{n}": {"properties": {"a": {"$ref": f"#/components/schemas/S{(n + 1) % 500}"}}} for n in range(500)
        }
        answer = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}}
        paths = {f"/{n}": {"get": {"responses": answer}} for n in range(operations)}
        document = {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}
        return best_seconds(lambda: read_tools(document), enough=0.01)

    few, many = cost(50), cost(400)
    assert many < 40 * max(few, 0.01)
