"""Inputs of the function-call metrics of `ai-evaluation`: objects, lists, JSON text and Python's call syntax."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.grading.dialects.vectors.cases import SEED, Case, call, call_lists

DEFINITIONS: list[dict[str, Any]] = [
    {
        "name": "f",
        "parameters": [
            {"name": "a", "type": "integer"},
            {"name": "b", "type": "string", "required": False, "enum": ["a", "b", "1"]},
            {"name": "c", "type": "object", "required": False},
        ],
    },
    {
        "name": "g",
        "parameters": [
            {"name": "a", "type": "number"},
            {"name": "b", "type": "boolean"},
            {"name": "c", "type": "Array", "required": False},
        ],
    },
    {"name": "h", "parameters": [{"name": "a", "type": "null"}, {"name": "b", "type": "date", "required": False}]},
    {"name": "none"},
]


def function_calls(count: int) -> Iterator[Case]:
    """Yield pairs of inputs: the faults first, then mutations in one form or another."""
    yield from _FAULTS
    chance = random.Random(SEED + 2)
    for case in call_lists(count):
        yield Case(_written(case.expected, chance), _written(case.actual, chance))


def _written(calls: list[dict[str, Any]], chance: random.Random) -> Any:
    if len(calls) != 1 or chance.random() < 0.1:
        return calls
    form = chance.choice(("object", "object", "text", "json", "python", "parameters"))
    name, arguments = calls[0]["name"], calls[0]["arguments"]
    if form == "object":
        return calls[0]
    if form == "json":
        return json.dumps(calls[0])
    if form == "text":
        return {"name": name, "arguments": json.dumps(arguments)}
    if form == "parameters":
        return json.dumps({"name": name, "parameters": arguments})
    if not isinstance(arguments, dict):
        return f"{name}({arguments!r})"
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


_TEXTS = (
    "f(x=-1)",
    "f(x=1)",
    "f(1)",
    "f(1, x=2)",
    "a.f(x=1)",
    "b.f(x=1)",
    "f(x=True)",
    "f(x=None)",
    "f(x=true)",
    "f(x=[1, -1])",
    "f(x={1, 2})",
    "f(x={2, 1})",
    "f(x=(1, 2))",
    "f(x=[1, 2])",
    "f(x={'y': 1})",
    "f(x={'y': 1, **z})",
    "f(*x)",
    "f(**x)",
    "f()(x=1)",
    "f[0](x=1)",
    "f(x=1",
    "f",
    "",
    "f(x={[1]})",
    "f(x={[1]: 2})",
    "f(x=1j)",
    "f(x=b'1')",
    "f(x=...)",
    "f(x='1' '2')",
    "f(x=f'{y}')",
    "f(x=1) ",
    "f(x=1); g()",
    "x = f()",
    "f(x=1, x=2)",
    "f(class=1)",
    "f(x=0x10)",
    "f(x=1_000)",
    "f(x=1e400)",
    '"f(x=1)"',
    "5",
    "null",
    "[]",
    '[{"name": "f", "arguments": {}}]',
    '{"name": "f", "arguments": {"x": NaN}}',
    '{"name": "f", "parameters": {"x": 1}}',
    '{"name": "f", "input": {"x": 1}}',
    '{"function": "f", "arguments": {"x": 1}}',
    '{"name": "f", "arguments": "{bad"}',
    '{"name": "f", "arguments": "[1]"}',
    '{"name": 5}',
    '{"name": null}',
    "{}",
    '{"function": {"name": "f", "arguments": "{}"}}',
    '{"name": "f", "arguments": {"x": 1}, "arguments": {"x": 2}}',
    "f(x=lambda: 1)",
    "f(x=y.z)",
    "f(x=not y)",
    "f(x=1 if y else 2)",
    "async f()",
    "f(x=[i for i in y])",
    "none()",
    "f(\0)",
)
_OBJECTS: tuple[Any, ...] = (
    {"name": "f", "arguments": "{bad"},
    {"name": "f", "arguments": {}},
    {"name": "f"},
    {"name": "f", "parameters": {"a": 1}},
    {"name": "f", "input": {"a": 1}},
    {"function": "f", "parameters": {"a": 1}},
    {"function": {"name": "f", "arguments": {}}},
    {"name": "f", "arguments": None},
    {"name": "f", "arguments": [1]},
    {"name": 5},
    {"name": None, "arguments": {}},
    {},
    {"name": "f", "arguments": '{"a": 1}', "parameters": {"a": 2}},
    {"name": "f", "arguments": {"a": 1}, "parameters": {"a": 2}},
    None,
    5,
    True,
    [],
    [None],
    [5],
    ["f(x=1)"],
    [{"name": "f", "parameters": {"a": 1}}],
    [{"name": "f", "arguments": '{"a": 1}'}],
    [call("f", a=1), {"name": 5}],
    [[call("f")]],
    {"name": "f", "arguments": '"x"'},
    {"name": "f", "arguments": "null"},
    {"name": "f", "arguments": "9" * 5000},
)
_FAULTS = (
    *(Case(text, text) for text in _TEXTS),
    *(Case("f(x=1)", text) for text in _TEXTS),
    *(Case(given, given) for given in _OBJECTS),
    *(Case(call("f", a=1), given) for given in _OBJECTS),
    *(Case(given, call("f", a=1)) for given in _OBJECTS),
    Case(call("f", a=1), call("g", a=1)),
    Case([call("f", a=1), call("f", a=1)], [call("f", a=1)]),
    Case([call("f", a=1)], [call("f", a=1), call("g"), call("h")]),
    Case([call("f", a=1), call("g", a=2)], [call("g", a=2), call("f", a=1)]),
    Case(call("f", a=1), call("f", a=1.7)),
    Case(call("f", a=1), call("f", a=None)),
    Case(call("g", a=1, b=True), call("g", a=True, b=1)),
    Case(call("h", a=None), call("h", a=None, b="x")),
    Case(call("h", a=None), call("h", a=None, b=5)),
    Case(call("none"), call("none", a=1)),
    Case(call("f", a={"x": [1, {"y": 1}]}), call("f", a={"x": [1.0, {"y": True}]})),
)
