"""Whoever reads a schema beside its check reads the hostile ones in a short time, and raises no other error."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from time import process_time
from typing import Any

import pytest
from django.http import QueryDict

from labeling.conversation.tool_description import tool_reading
from labeling.exports.bfcl import bfcl_types
from labeling.label_form.calls import ReadProblems, fields_of_call, read_call
from labeling.label_form.fields import (
    MAX_FIELDS,
    MAX_OPENED,
    ArgumentField,
    Kind,
    argument_fields,
    children_of,
    item_of,
    variant_of,
)
from labeling.label_form.form_from_expectation import fill_call
from labeling.label_form.matchers import CallEntries
from labeling.label_form.panel import rows_of
from tests.fixtures.hostile_schemas import CHECKED, every_hostile_schema
from toolevals.grading.edge_cases.parameters import MAX_PARAMETERS, applicable_kinds, parameters_of
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.json_schema.strict_mode import PROVIDERS, strict_problems
from toolevals.grading.reading.parsing.text_formats.source import typed
from toolevals.grading.reading.specs.reading import read_tools
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.changes import schema_rows, version_changes
from toolevals.runs.baseline.ranking import bag

# Of processor time, which other work on the machine hardly lengthens.
LONGEST_SECONDS = 1.0
SCHEMAS = every_hostile_schema()


def _tool(schema: dict[str, Any], words: str = "Asks for much.") -> ToolSpec:
    return ToolSpec("hostile", words, schema)


def _entries() -> CallEntries:
    return CallEntries(QueryDict(mutable=True), 1)


def _inside(one: ArgumentField) -> Iterator[ArgumentField]:
    if one.kind is Kind.OBJECT:
        yield from children_of(one)
    elif one.kind is Kind.LIST:
        yield item_of(one, "0")
    elif one.kind is Kind.VARIANT:
        yield from (variant_of(one, number) for number in range(len(one.variants)))


def _open_fields(schema: Mapping[str, Any]) -> None:
    waiting = list(argument_fields(schema))
    for _ in range(100):
        if waiting:
            waiting += islice(_inside(waiting.pop()), 20)


def _label(levels: int) -> dict[str, Any]:
    matcher: dict[str, Any] = {"exact": "x"}
    for _ in range(levels):
        matcher = {"fields": {"a": matcher}}
    return {"tool": "hostile", "arguments": {"a": matcher}}


def _expectation(schema: dict[str, Any]) -> None:
    document = {"kind": "calls", "alternatives": [{"calls": [_label(8)]}]}
    expectation_problems(Expectation.from_document(document), [_tool(schema)])


def _openapi(schema: dict[str, Any]) -> dict[str, Any]:
    defs = schema.get("$defs", {})
    body = {"content": {"application/json": {"schema": _moved({**schema, "$defs": {}})}}}
    operation = {"operationId": "hostile", "requestBody": body, "responses": {"200": {"description": "Done."}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hostile", "version": "1"},
        "paths": {"/": {"post": operation}},
        "components": {"schemas": _moved(defs)},
    }


def _moved(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_moved, value))
    if isinstance(value, dict):
        return {key: _moved(inside) for key, inside in value.items()}
    return value.replace("#/$defs/", "#/components/schemas/") if isinstance(value, str) else value


def _listed(schema: dict[str, Any], format_name: str) -> Any:
    named = {"name": "hostile", "description": "Asks for much."}
    return {
        "native": [{**named, "input_schema": schema}],
        "openai": [{"type": "function", "function": {**named, "parameters": schema}}],
        "anthropic": [{**named, "input_schema": schema}],
        "gemini": [{"functionDeclarations": [{**named, "parametersJsonSchema": schema}]}],
        "bfcl": [{**named, "parameters": schema}],
        "mcp": {"tools": [{**named, "inputSchema": schema}]},
        "openapi": _openapi(schema),
    }[format_name]


def _read_as(format_name: str) -> Callable[[dict[str, Any]], object]:
    return lambda schema: read_tools(_listed(schema, format_name), format=format_name)


READERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "the form's fields": _open_fields,
    "the form's rows": lambda schema: list(rows_of(_entries(), fields_of_call(_entries(), schema), others=True)),
    "the form as it is read": lambda schema: read_call(_entries(), schema, "", ReadProblems()),
    "the form of a label": lambda schema: fill_call(_entries(), schema, _label(15)),
    "a label": _expectation,
    "edge cases": lambda schema: applicable_kinds(_tool(schema)),
    "rows for people": schema_rows,
    "what a labeller reads": lambda schema: tool_reading(_tool(schema)),
    "two versions": lambda schema: version_changes([_tool(schema)], [_tool(schema, "Asks for more.")]),
    "strict mode": lambda schema: [strict_problems(schema, provider) for provider in PROVIDERS],
    "types of texts": lambda schema: [typed("1", each, schema) for each in schema.get("properties", {}).values()],
    "the baseline": lambda schema: bag(_tool(schema)),
    "an export to the leaderboard": bfcl_types,
    **{f"an import of {name}": _read_as(name) for name in ("native", "openai", "anthropic", "gemini", "bfcl", "mcp")},
    "an import of OpenAPI": _read_as("openapi"),
}


@pytest.fixture
def others_set_aside() -> None:
    """Set aside what earlier tests have left: the collector stays on, and searches what is read here."""
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("others_set_aside")
@pytest.mark.parametrize("reader", READERS)
def test_hostile_schemas_are_read_in_a_short_time(reader: str) -> None:
    slow = {}
    for name, schema in SCHEMAS.items():
        began = process_time()
        with suppress(InvalidDocument):
            READERS[reader](schema)
        if (seconds := process_time() - began) >= LONGEST_SECONDS:
            slow[name] = seconds
    assert slow == {}


def test_a_form_shows_as_much_as_a_page_holds_and_others_are_added_by_name() -> None:
    wide, nested = SCHEMAS["20,000 properties"], SCHEMAS["all required in all"]
    assert len(argument_fields(wide)) == MAX_FIELDS
    rows = list(rows_of(_entries(), argument_fields(nested), others=False))
    assert len(rows) + sum(len(row.rows) for row in rows) <= MAX_OPENED
    filled = fill_call(_entries(), wide, {"tool": "hostile", "arguments": {"p19999": {"exact": "x"}}})
    assert filled["c1.e"] == ["p19999"]


def test_what_is_composed_has_the_fields_of_all_its_parts() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "properties": {"own": {"type": "string"}},
        "$defs": {
            "a": {"allOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}], "required": ["deep"]},
            "b": {"properties": {"deep": {"allOf": [{"type": "integer"}]}}, "allOf": [{"$ref": "#/$defs/a"}]},
        },
    }
    own, deep = argument_fields(schema)
    assert (own.name, own.kind, deep.name, deep.kind, deep.required) == ("own", "text", "deep", "integer", True)


def test_parameters_are_followed_so_far_as_is_said() -> None:
    for schema, _ in CHECKED.values():
        assert len(parameters_of(_tool(schema))) <= MAX_PARAMETERS
    tenfold = SCHEMAS["tenfold"]
    assert [each.path for each in parameters_of(_tool(tenfold))] == [("a",)]
