"""Find what breaks calls among changes of tools: seeded mutations of real tools, and laws."""

from __future__ import annotations

import copy
import gzip
import json
import os
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.runs.building import TOOLS
from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import ToolSpec
from toolevals.registry.tool_drift import AT_RISK, Drift, tool_drift

ROOT = Path(__file__).parents[2]
SEEDS = range(25)
Tools = list[dict[str, Any]]


@cache
def tool_sets() -> dict[str, str]:
    """Return real lists of tools, as JSON of the native form: the sample's, our MCP server's, a public benchmark's."""
    found: dict[str, Any] = {
        "sample": json.loads(
            gzip.decompress((ROOT / "toolevals" / "sample" / "data" / "tools_before.json.gz").read_bytes())
        ),
        "mcp": json.loads((ROOT / "docs/examples/mcp/tools.json").read_bytes()),
    }
    found["orders"] = TOOLS
    benchmark = Path(os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")) / "bfcl" / "BFCL_v4_live_multiple.json"
    if benchmark.is_file():
        lines = benchmark.read_text("utf-8").splitlines()[:200]
        tools = {tool["name"]: tool for line in lines for tool in json.loads(line)["function"]}
        found["bfcl"] = list(tools.values())
    return {
        name: json.dumps([tool.to_document() for tool in read_tools(document).tools])
        for name, document in found.items()
    }


def places(schema: Any, holds: Callable[[dict[str, Any]], bool]) -> Iterator[dict[str, Any]]:
    """Yield each schema below, itself included, that an argument has and that holds something."""
    if holds(schema):
        yield schema
    for part in schema.get("properties", {}).values():
        yield from places(part, holds)
    if isinstance(schema.get("items"), dict):
        yield from places(schema["items"], holds)


def one_of(tools: Tools, draw: random.Random, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """Return one drawn schema of the tools that holds something, None where there is none."""
    found = [part for tool in tools for part in places(tool["input_schema"], holds)]
    return draw.choice(found) if found else None


def remove_tool(tools: Tools, draw: random.Random) -> bool:
    tools.pop(draw.randrange(len(tools)))
    return True


def rename_tool(tools: Tools, draw: random.Random) -> bool:
    draw.choice(tools)["name"] += "_v2"
    return True


def with_properties(part: dict[str, Any]) -> bool:
    return bool(part.get("properties"))


def remove_argument(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, with_properties)
    assert part is not None
    name = draw.choice(list(part["properties"]))
    del part["properties"][name]
    part["required"] = [other for other in part.get("required", []) if other != name]
    return True


def rename_argument(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, with_properties)
    assert part is not None
    name = draw.choice(list(part["properties"]))
    part["properties"][f"{name}_2"] = part["properties"].pop(name)
    part["required"] = [f"{name}_2" if other == name else other for other in part.get("required", [])]
    return True


def add_required(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, with_properties)
    assert part is not None
    part["properties"]["reason_for_it"] = {"type": "string"}
    part["required"] = [*part.get("required", []), "reason_for_it"]
    return True


def require(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: bool(part.get("properties", {}).keys() - set(part.get("required", []))))
    if part is None:
        return False
    optional = sorted(part["properties"].keys() - set(part.get("required", [])))
    part["required"] = [*part.get("required", []), draw.choice(optional)]
    return True


def narrow_enum(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: len(part.get("enum", [])) > 1)
    if part is not None:
        part["enum"].pop(draw.randrange(len(part["enum"])))
    return part is not None


def list_values(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: part.get("type") == "string" and "enum" not in part)
    if part is not None:
        part["enum"] = ["a", "b"]
    return part is not None


def change_type(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: part.get("type") in ("string", "number", "boolean"))
    if part is not None:
        part["type"] = "array" if part["type"] == "string" else "integer"
        part.pop("enum", None)
    return part is not None


def tighten(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: part.get("type") in ("string", "integer", "number", "array"))
    assert part is not None
    lower, upper = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}.get(
        part["type"], ("minimum", "maximum")
    )
    if draw.random() < 0.5:
        part[lower] = part.get(lower, 0) + 1
    else:
        part[upper] = part.get(upper, 100) - 1
    return True


def close(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: with_properties(part) and part.get("additionalProperties", True) is True)
    if part is not None:
        part["additionalProperties"] = False
    return part is not None


def state_pattern(tools: Tools, draw: random.Random) -> bool:
    part = one_of(tools, draw, lambda part: part.get("type") == "string" and not {"pattern", "format"} & part.keys())
    if part is not None:
        part[draw.choice(["pattern", "format"])] = draw.choice(["date", "email"])
    return part is not None


BREAKING = (
    remove_tool,
    rename_tool,
    remove_argument,
    rename_argument,
    add_required,
    require,
    narrow_enum,
    list_values,
    change_type,
    tighten,
    close,
    state_pattern,
)


def shuffled(value: Any, draw: random.Random, key: str = "") -> Any:
    """Return a document in another order of all that has none."""
    if isinstance(value, dict):
        names = draw.sample(list(value), len(value))
        return {name: shuffled(value[name], draw, name) for name in names}
    if isinstance(value, list):
        parts = [shuffled(part, draw) for part in value]
        return draw.sample(parts, len(parts)) if key in ("enum", "required", "type", "anyOf", "oneOf") else parts
    return value


def specs(tools: Tools) -> list[ToolSpec]:
    return [ToolSpec.from_document(tool) for tool in tools]


def changed(schema: dict[str, Any], other: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (kind, what) of each change from one schema of arguments to another."""
    return [(each.kind, each.what) for each in tool_drift([ToolSpec("t", "", schema)], [ToolSpec("t", "", other)])]


@pytest.mark.parametrize("mutate", BREAKING)
def test_every_breaking_mutation_of_real_tools_is_found_as_breaking(mutate):
    made = 0
    for text in tool_sets().values():
        before = specs(json.loads(text))
        for seed in SEEDS:
            draw = random.Random(seed)
            tools = json.loads(text)
            if not mutate(tools, draw):
                continue
            made += 1
            after = specs(shuffled(tools, draw))
            assert "breaking" in {each.kind for each in tool_drift(before, after)}, (mutate.__name__, seed)
    assert made >= len(SEEDS)


@pytest.mark.parametrize("name", tool_sets())
def test_another_order_is_no_change(name):
    text = tool_sets()[name]
    before = specs(json.loads(text))
    for seed in SEEDS:
        draw = random.Random(seed)
        tools = json.loads(text)
        after = specs([shuffled(tool, draw) for tool in draw.sample(tools, len(tools))])
        assert tool_drift(before, after) == ()


@pytest.mark.parametrize("mutate", BREAKING)
def test_what_breaks_one_way_is_never_called_wording_the_other_way(mutate):
    for text in tool_sets().values():
        tools = json.loads(text)
        if mutate(tools, random.Random(7)):
            back = tool_drift(specs(tools), specs(json.loads(text)))
            assert {each.kind for each in back} - {"wording"}


def test_two_mutations_at_once_are_both_breaking():
    text = tool_sets()["sample"]
    for seed in SEEDS:
        draw = random.Random(seed)
        tools = json.loads(text)
        first, second = draw.sample(BREAKING[2:], 2)
        if first(tools, draw) and second(tools, draw):
            assert "breaking" in {each.kind for each in tool_drift(specs(json.loads(text)), specs(tools))}


STRING = {"type": "string"}


def of(part: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a schema of arguments with one argument."""
    return {"type": "object", "properties": {"a": part}, **more}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (of(STRING, required=["a"]), of(STRING), [("widening", "argument optional now")]),
        (of({"enum": ["x"]}), of({"enum": ["y", "x"]}), [("widening", "enum widened")]),
        (of({"enum": ["x"]}), of(STRING), [("widening", "enum widened")]),
        (of({"type": "integer"}), of({"type": "number"}), [("widening", "type changed")]),
        (of({"type": "number"}), of({"type": "integer"}), [("breaking", "type changed")]),
        (of({"maximum": 5}), of({"maximum": 6}), [("widening", "maximum loosened")]),
        (of({"maximum": 5}), of({}), [("widening", "maximum loosened")]),
        (of({"minimum": 5}), of({"minimum": 4}), [("widening", "minimum loosened")]),
        (of({"pattern": "a"}), of({"pattern": "b"}), [("unknown", "pattern changed")]),
        (of(STRING), of({**STRING, "description": "New."}), [("wording", "description changed")]),
        (of({**STRING, "default": 1}), of({**STRING, "default": 2}), [("unknown", "default changed")]),
        (of({**STRING, "x-new": 1}), of(STRING), [("unknown", "x-new changed")]),
        (of({"enum": [1]}), of({"enum": [1.0]}), []),
        (of({"enum": [1]}), of({"enum": [True]}), [("breaking", "enum replaced")]),
        (of(STRING), of({"anyOf": [STRING, {"type": "null"}]}), [("widening", "anyOf: a branch added")]),
        (of({"anyOf": [STRING, {"type": "null"}]}), of(STRING), [("breaking", "anyOf: a branch removed")]),
        (of({"not": STRING}), of({"not": {"type": "null"}}), [("unknown", "not changed")]),
        (
            {"type": "object", "$defs": {"d": STRING}, "properties": {"a": {"$ref": "#/$defs/d"}}},
            {"type": "object", "$defs": {"e": STRING}, "properties": {"a": {"$ref": "#/$defs/e"}}},
            [],
        ),
        (
            {"type": "object", "$defs": {"d": STRING}, "properties": {"a": {"$ref": "#/$defs/d"}}},
            {"type": "object", "$defs": {"d": {"type": "null"}}, "properties": {"a": {"$ref": "#/$defs/d"}}},
            [("breaking", "type changed")],
        ),
    ],
)
def test_each_rule_names_its_change(before, after, expected):
    assert changed(before, after) == expected


def test_a_changed_definition_beneath_branches_is_found():
    def schema(part: dict[str, Any]) -> dict[str, Any]:
        return {"$defs": {"d": part}, **of({"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]})}

    assert changed(schema(STRING), schema({**STRING, "maxLength": 3})) == [("breaking", "maxLength tightened")]


def test_a_schema_that_refers_to_itself_ends():
    def schema(part: dict[str, Any]) -> dict[str, Any]:
        node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "value": part}}
        return {"type": "object", "$defs": {"n": node}, "properties": {"a": {"$ref": "#/$defs/n"}}}

    assert changed(schema(STRING), schema({"type": "integer"})) == [("breaking", "type changed")]


def test_definitions_that_multiply_are_given_up_and_unknown():
    def schema(last: dict[str, Any]) -> dict[str, Any]:
        defs: dict[str, Any] = {
            f"d{i}": {"properties": {f"p{j}": {"$ref": f"#/$defs/d{i + 1}"} for j in range(10)}} for i in range(12)
        }
        return {"$defs": {**defs, "d12": last}, **of({"$ref": "#/$defs/d0"})}

    assert ("unknown", "too large to compare whole") in changed(schema(STRING), schema({"type": "null"}))


def test_tools_that_go_and_come_are_told_apart_from_renamed_ones():
    one, other = ToolSpec("find", "Find it.", of(STRING)), ToolSpec("search", "Find it.", of(STRING))
    third = ToolSpec("cancel", "Cancel it.", of({"type": "integer"}))
    assert tool_drift([one], [other, third]) == (
        Drift("find", "breaking", "tool renamed", before="find", after="search"),
        Drift("cancel", "widening", "tool added", after="cancel"),
    )
    assert [each.what for each in tool_drift([one, third], [one])] == ["tool removed"]


def test_effects_and_outputs_that_change_are_at_risk_and_words_are_not():
    tool = ToolSpec.from_document({"name": "t", "input_schema": {}, "output_schema": of(STRING)})
    document = tool.to_document()
    for change in ({"annotations": {"read_only": True}}, {"output_schema": of({"type": "null"})}, {"cost": 2.0}):
        other = ToolSpec.from_document({**copy.deepcopy(document), **change})
        assert {each.kind for each in tool_drift([tool], [other])} <= AT_RISK
    words = ToolSpec.from_document({**document, "output_schema": of({**STRING, "description": "A word."})})
    assert [each.kind for each in tool_drift([tool], [words])] == ["wording"]
