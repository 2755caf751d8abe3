"""Hostile schemas are refused by pointer, or checked in a short time; what no one can write by hand is drawn."""

from __future__ import annotations

import random
from contextlib import suppress
from time import perf_counter
from typing import Any

import pytest

from toolevals.grading.json_schema.conformance import TOO_MANY, call_problems, schema_problems
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument

LONGEST_SECONDS = 1.0
MULTIPLY, ENDLESS, IN_A_ROW = "its references multiply", "never ends", "in a row"


def _levels(make: Any, count: int = 40) -> dict[str, Any]:
    defs: dict[str, Any] = {"l0": {"type": "string", "$dynamicAnchor": "l0", "$anchor": "a0"}}
    for level in range(1, count):
        named = {"$dynamicAnchor": f"l{level}", "$anchor": f"a{level}"}
        defs[f"l{level}"] = make({"$ref": f"#/$defs/l{level - 1}"}, level - 1) | named
    return {"properties": {"a": {"$ref": f"#/$defs/l{count - 1}"}}, "$defs": defs}


def _deep(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = {"a": value}
    return value


def _nested(make: Any, levels: int) -> dict[str, Any]:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = make(schema)
    return {"properties": {"a": schema}}


_SELF = {"$ref": "#/$defs/n"}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "allOf": (_levels(lambda ref, _: {"allOf": [ref, ref]}), MULTIPLY),
    "anyOf": (_levels(lambda ref, _: {"anyOf": [ref, ref]}), MULTIPLY),
    "oneOf": (_levels(lambda ref, _: {"oneOf": [ref, ref]}), MULTIPLY),
    "not": (_levels(lambda ref, _: {"not": ref, "allOf": [ref]}), MULTIPLY),
    "if and then": (_levels(lambda ref, _: {"if": ref, "then": ref}), MULTIPLY),
    "if and else": (_levels(lambda ref, _: {"if": ref, "else": ref}), MULTIPLY),
    "$ref and allOf": (_levels(lambda ref, _: {**ref, "allOf": [ref]}), MULTIPLY),
    "dependentSchemas": (_levels(lambda ref, _: {"dependentSchemas": {"a": ref, "b": ref}}), MULTIPLY),
    "dependencies": (_levels(lambda ref, _: {"dependencies": {"a": ref, "b": ref}}), MULTIPLY),
    "$dynamicRef": (_levels(lambda _, n: {"allOf": [{"$dynamicRef": f"#l{n}"}] * 2}), MULTIPLY),
    "$anchor": (_levels(lambda _, n: {"anyOf": [{"$ref": f"#a{n}"}] * 2}), MULTIPLY),
    "tenfold": (_levels(lambda ref, _: {"anyOf": [ref] * 10}, 8), MULTIPLY),
    "a long row": (_levels(lambda ref, _: ref, 200), IN_A_ROW),
    "unevaluatedProperties": (
        _nested(lambda inside: {"allOf": [inside], "unevaluatedProperties": False}, 20),
        MULTIPLY,
    ),
    "unevaluatedItems": (_nested(lambda inside: {"anyOf": [inside], "unevaluatedItems": False}, 20), MULTIPLY),
    "deep not": (_nested(lambda inside: {"not": inside}, 150), IN_A_ROW),
    "itself": ({"$defs": {"n": _SELF}, "properties": {"a": _SELF}}, ENDLESS),
    "the root": ({"not": {"$ref": "#"}}, ENDLESS),
    "$recursiveRef": ({"anyOf": [{"$recursiveRef": "#"}]}, ENDLESS),
    "mutual": ({"$defs": {"n": {"allOf": [{"$ref": "#/$defs/m"}]}, "m": {"anyOf": [_SELF]}}}, ENDLESS),
    "through if": ({"$defs": {"n": {"if": _SELF}}}, ENDLESS),
    "through dependentSchemas": ({"$defs": {"n": {"dependentSchemas": {"a": _SELF}}}}, ENDLESS),
}
_TWICE = {"properties": {"a": _SELF}}
CHECKED: dict[str, tuple[dict[str, Any], Any]] = {
    "two by level": ({**_SELF, "$defs": {"n": {"allOf": [_TWICE, _TWICE]}}}, _deep("x", 60)),
    "patterns by level": ({**_SELF, "$defs": {"n": {"patternProperties": {"a": _SELF, "^a": _SELF}}}}, _deep("x", 60)),
    "properties and patterns": (
        {**_SELF, "$defs": {"n": {"properties": {"a": _SELF}, "patternProperties": {"^a": _SELF}}}},
        _deep("x", 60),
    ),
    "many texts wanted": ({"properties": {"a": {"allOf": [{"type": "string"}] * 500}}}, {"a": [{"b": 1}] * 20_000}),
    "a long enum": ({"properties": {"a": {"items": {"enum": list(range(50_000))}}}}, {"a": ["z"] * 1_000}),
    "objects in an enum": (
        {"properties": {"a": {"items": {"enum": [{"b": n} for n in range(20_000)]}}}},
        {"a": [{"b": -1}] * 300},
    ),
    "unique objects": ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"b": [n]} for n in range(20_000)]}),
    "all items wrong": ({"properties": {"a": {"items": {"type": "string"}}}}, {"a": list(range(100_000))}),
    "contains in contains": (
        {"properties": {"a": {"contains": {"contains": {"contains": {"const": 1}}}}}},
        {"a": [[[0] * 100] * 30] * 30},
    ),
    "a tree": (
        {**_SELF, "$defs": {"n": {"properties": {"a": _SELF}, "required": ["b"]}}},
        _deep({"b": 1}, 60),
    ),
}


def _tool(schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec("hostile", "Asks for much.", schema)


@pytest.mark.parametrize("name", REFUSED)
def test_what_multiplies_on_one_value_is_refused_by_pointer(name: str) -> None:
    schema, words = REFUSED[name]
    began = perf_counter()
    problem = schema_problems(schema)[0]
    assert perf_counter() - began < LONGEST_SECONDS
    assert words in problem.message
    with pytest.raises(InvalidDocument):
        call_problems(_tool(schema), {"a": 1})


@pytest.mark.parametrize("name", CHECKED)
def test_what_depends_on_the_value_is_checked_or_refused_in_a_short_time(name: str) -> None:
    schema, value = CHECKED[name]
    began = perf_counter()
    assert schema_problems(schema) == []
    with suppress(InvalidDocument):
        call_problems(_tool(schema), value)
    assert perf_counter() - began < LONGEST_SECONDS


def test_a_tree_is_checked_at_any_depth_and_too_many_faults_are_one() -> None:
    schema, value = CHECKED["a tree"]
    assert len(call_problems(_tool(schema), value)) == 60
    schema, value = CHECKED["all items wrong"]
    assert [problem.keyword for problem in call_problems(_tool(schema), value)] == [TOO_MANY]


def _drawn(draw: random.Random, levels: int) -> dict[str, Any]:
    if not levels or draw.random() < 0.2:
        return draw.choice([{"type": "string"}, {"$ref": f"#/$defs/d{draw.randrange(6)}"}, {"enum": [1, "a"]}, {}])
    made: dict[str, Any] = {}
    for keyword in draw.sample(["allOf", "anyOf", "oneOf", "not", "if", "properties", "items", "patternProperties"], 2):
        inside = [_drawn(draw, levels - 1) for _ in range(draw.randint(1, 4))]
        if keyword in ("allOf", "anyOf", "oneOf"):
            made[keyword] = inside
        elif keyword in ("not", "if", "items"):
            made[keyword] = inside[0]
        else:
            made[keyword] = dict(zip("abcd", inside, strict=False))
    if draw.random() < 0.1:
        made["unevaluatedProperties"] = False
    return made


def _value(draw: random.Random, levels: int) -> Any:
    if not levels:
        return draw.choice([1, "a", None, True])
    inside = [_value(draw, levels - 1) for _ in range(draw.randint(1, 3))]
    return inside if draw.random() < 0.4 else dict(zip("abc", inside, strict=False))


def test_ten_thousand_drawn_schemas_are_each_checked_in_a_short_time() -> None:
    draw, longest, refused = random.Random(37), 0.0, 0
    for _ in range(10_000):
        schema = {"properties": {"a": _drawn(draw, 3)}, "$defs": {f"d{n}": _drawn(draw, 2) for n in range(6)}}
        value = {"a": _value(draw, 4)}
        began = perf_counter()
        try:
            call_problems(_tool(schema), value)
        except InvalidDocument:
            refused += 1
        longest = max(longest, perf_counter() - began)
    assert longest < LONGEST_SECONDS
    assert 0 < refused < 10_000
