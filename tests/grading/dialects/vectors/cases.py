"""The cases of the parity vectors: every known fault by hand, and seeded mutations of made-up calls."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SEED = 20260323
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    1.0,
    2,
    -1,
    "1",
    "1.0",
    "a",
    "A",
    " a",
    [],
    [1],
    [1.0],
    ["a", "b"],
    ["b", "a"],
    {},
    {"x": 1},
    {"x": 1.0},
    {"x": {"y": 1}},
    {"x": 1, "y": 2},
    {"y": 2, "x": 1},
    {"x": 1, "y": {"z": [1], "w": 2}},
    2**53,
    2**53 + 1,
]
NAMES = ("f", "g", "h")
KEYS = ("a", "b", "c")


@dataclass(frozen=True)
class Case:
    """What one side expects beside what was done."""

    expected: Any
    actual: Any


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def bare(name: str) -> dict[str, Any]:
    """Return a call without arguments, which is not one with empty ones."""
    return {"name": name, "arguments": None}


def call_lists(count: int) -> Iterator[Case]:
    """Yield lists of plain calls: the faults first, then mutations."""
    yield from _FAULTS
    chance = random.Random(SEED)
    for _ in range(count):
        expected = [_any_call(chance) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))]
        actual = json.loads(json.dumps(expected))
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            actual = _mutated(actual, chance)
        yield Case(expected, actual)


_F, _G = call("f", a=1), call("g", a=1)
_FAULTS = (
    Case([], []),
    Case([], [_F]),
    Case([_F], []),
    Case([_F, _F], [_F, _F]),
    Case([_F, _F], [_F]),
    Case([_F], [_F, _F]),
    Case([_F, _G], [_G, _F]),
    Case([_F, _G], [_F, call("h"), _G]),
    Case([_F, _G], [_G]),
    Case([call("f", a=1)], [call("f", a=1.0)]),
    Case([call("f", a=1)], [call("f", a=True)]),
    Case([call("f", a=1)], [call("f", a="1")]),
    Case([call("f", a="1.0")], [call("f", a=1.0)]),
    Case([call("f", a=None)], [call("f", a="None")]),
    Case([call("f", a={"x": 1, "y": 2})], [call("f", a={"y": 2, "x": 1})]),
    Case([call("f", a=1)], [call("f", a=1, b=2)]),
    Case([call("f", a=1, b=2)], [call("f", a=1)]),
    Case([call("f")], [call("f", a=1)]),
    Case([call("f")], [call("f")]),
    Case([bare("f")], [call("f")]),
    Case([call("f", a=1)], [bare("f")]),
    Case([bare("f")], [bare("f")]),
    Case([bare("f")], [call("f", a=1)]),
    # Sorting pairs a partly right call with the wrong one.
    Case([call("f", a=1, b=9), call("f", a=2, b=1)], [call("f", a=2, b=9), call("f", a=1, b=2)]),
    # The order of the expected calls changes a greedy score.
    Case([call("f", a=1), call("f", a=1, b=2)], [call("f", a=1, b=2), call("f", a=1, b=3)]),
    Case([call("f", a=1, b=2), call("f", a=1)], [call("f", a=1, b=2), call("f", a=1, b=3)]),
    Case([call("f", a={"x": {"y": 1, "z": 2}, "w": 1})], [call("f", a={"x": {"y": 1, "z": 3}, "v": 1})]),
    Case([call("f", a=2**53)], [call("f", a=2**53 + 1)]),
    Case([call("f", a=10**400)], [call("f", a=10**400)]),
    Case([call("f", a=[1, True])], [call("f", a=[True, 1])]),
    Case([{"name": None, "arguments": {}}], [call("f")]),
    Case([{"name": "f", "arguments": [1]}], [call("f")]),
    Case([{"name": "f", "arguments": "{}"}], [call("f")]),
)


def _any_call(chance: random.Random) -> dict[str, Any]:
    keys = chance.sample(KEYS, chance.choice((0, 1, 2, 2, 3)))
    return call(chance.choice(NAMES[:2]), **{key: chance.choice(VALUES) for key in keys})


def _mutated(calls: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    made = list(calls)
    what = chance.choice(("drop", "add", "repeat", "order", "rename", "value", "value", "extra", "less"))
    if what == "add" or not made:
        made.insert(chance.randint(0, len(made)), _any_call(chance))
        return made
    at = chance.randrange(len(made))
    if what == "drop":
        del made[at]
    elif what == "repeat":
        made.insert(chance.randint(0, len(made)), made[at])
    elif what == "order":
        chance.shuffle(made)
    elif what == "rename":
        made[at] = {**made[at], "name": chance.choice(NAMES)}
    else:
        made[at] = {**made[at], "arguments": _other_arguments(made[at]["arguments"], what, chance)}
    return made


def _other_arguments(arguments: dict[str, Any], what: str, chance: random.Random) -> dict[str, Any]:
    made = dict(arguments)
    if what == "extra" or not made:
        made[chance.choice(KEYS)] = chance.choice(VALUES)
    elif what == "less":
        del made[chance.choice(list(made))]
    else:
        made[chance.choice(list(made))] = chance.choice(VALUES)
    return made


def trajectories(count: int) -> Iterator[Case]:
    """Yield chat messages with calls in OpenAI's form."""
    yield from _TRAJECTORY_FAULTS
    chance = random.Random(SEED + 1)
    for case in list(call_lists(count))[len(_FAULTS) :]:
        together = chance.random() < 0.5
        yield Case(
            _talk(case.expected, chance, together), _talk(case.actual, chance, together or chance.random() < 0.3)
        )


def said(*calls: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    """Return a message with these calls."""
    written = [
        {"id": "", "function": {"name": each["name"], "arguments": json.dumps(each["arguments"])}} for each in calls
    ]
    return {"role": role, "content": "", **({"tool_calls": written} if calls else {})}


def _raw(name: str, arguments: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "", "function": {"name": name, "arguments": arguments}}],
    }


_USER, _TOOL, _WORDS = {"role": "user", "content": "hi"}, {"role": "tool", "content": "ok"}, said()
_TRAJECTORY_FAULTS = (
    Case([], []),
    Case(None, None),
    Case(None, [said(_F)]),
    Case([said(_F)], None),
    Case({"messages": [said(_F)]}, {"messages": [said(_F)]}),
    Case({"message": []}, []),
    Case(said(_F), [said(_F)]),
    Case([_USER, said(_F), _TOOL, _WORDS], [{"role": "user", "content": "other"}, said(_F), _TOOL, _WORDS]),
    Case([{"role": "human", "content": ""}], [_USER]),
    Case([{"role": "ai", "content": ""}], [_WORDS]),
    Case([{"role": "developer", "content": "x"}], [{"role": "system", "content": "x"}]),
    Case([{"role": "critic", "content": ""}], []),
    Case([{"content": ""}], []),
    Case([_USER, said(_F)], [said(_F)]),
    # The same calls in one message or in two.
    Case([said(_F, _G)], [said(_F), said(_G)]),
    Case([said(_F, _G)], [said(_G, _F)]),
    Case([said(_F), said(_G)], [said(_G), said(_F)]),
    # First fit takes the call that the narrower expectation needs.
    Case([said(call("f", a=1), call("f", a=1, b=2))], [said(call("f", a=1, b=2), call("f", a=1))]),
    Case([said(call("f", a=1, b=2), call("f", a=1))], [said(call("f", a=1), call("f", a=1, b=2))]),
    # Subset and superset of arguments, both ways round.
    Case([said(call("f", a=1))], [said(call("f", a=1, b=2))]),
    Case([said(call("f", a=1, b=2))], [said(call("f", a=1))]),
    Case([said(call("f", a={"x": 1}))], [said(call("f", a={"x": 1, "y": 2}))]),
    Case([said(call("f", a=1))], [said(call("f", a=True))]),
    Case([said(call("f", a=1))], [said(call("f", a=1.0))]),
    Case([said(call("f", a=None))], [said(call("f"))]),
    Case([said(call("f", a={"x": 1}, b=1))], [said(call("f", a={"x": 1, "y": 2}, b=2))]),
    Case([said(_F)], [said(_F, _F)]),
    Case([said(_F, _F)], [said(_F)]),
    Case([_raw("f", "{bad")], [said(_F)]),
    Case([said(_F)], [_raw("f", "[1]")]),
    Case([said(_F)], [_raw("f", {"a": 1})]),
    Case(
        [said(_F)], [{"role": "assistant", "content": None, "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "1"}]}]
    ),
    Case([said(_F)], [{"role": "assistant", "content": "", "tool_calls": [{"id": "", "function": {"name": "f"}}]}]),
    Case([{"role": "assistant", "content": "", "tool_calls": []}], [_WORDS]),
    Case([{"role": "assistant", "content": "", "tool_calls": None}], [_WORDS]),
    Case([said(_F), {**said(_G), "role": "user"}], [said(_F), _USER]),
)


def _talk(calls: list[dict[str, Any]], chance: random.Random, together: bool) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [_USER] if chance.random() < 0.8 else []
    if together:
        return [*messages, said(*calls)]
    for each in calls:
        messages += [said(each), _TOOL]
    return messages
