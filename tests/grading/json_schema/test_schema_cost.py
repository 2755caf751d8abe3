"""Hostile schemas are refused by pointer, or checked in a short time; what no one can write by hand is drawn."""

from __future__ import annotations

import random
from contextlib import suppress
from time import thread_time
from typing import Any

import pytest

from tests.fixtures.hostile_schemas import CHECKED, REFUSED
from toolevals.grading.json_schema.conformance import TOO_MANY, call_problems, schema_problems
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument

LONGEST_SECONDS = 1.0


def _tool(schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec("hostile", "Asks for much.", schema)


@pytest.mark.parametrize("name", REFUSED)
def test_what_multiplies_on_one_value_is_refused_by_pointer(name: str) -> None:
    schema, words = REFUSED[name]
    began = thread_time()
    problem = schema_problems(schema)[0]
    assert thread_time() - began < LONGEST_SECONDS
    assert words in problem.message
    with pytest.raises(InvalidDocument):
        call_problems(_tool(schema), {"a": 1})


@pytest.mark.parametrize("name", CHECKED)
def test_what_depends_on_the_value_is_checked_or_refused_in_a_short_time(name: str) -> None:
    schema, value = CHECKED[name]
    began = thread_time()
    assert schema_problems(schema) == []
    with suppress(InvalidDocument):
        call_problems(_tool(schema), value)
    assert thread_time() - began < LONGEST_SECONDS


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
        began = thread_time()
        try:
            call_problems(_tool(schema), value)
        except InvalidDocument:
            refused += 1
        longest = max(longest, thread_time() - began)
    assert longest < LONGEST_SECONDS
    assert 0 < refused < 10_000
