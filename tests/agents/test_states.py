"""Shared states: whatever tools do to them, it is as if each world had a copy of its own."""

import copy
import dataclasses
import json
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.agents.code.states import BreachedError, Forked, NotJSONError, SharedState, forked, settled
from toolevals.grading.layers.execution import StateDiff, state_diff
from toolevals.grading.matching.value_differences import patched, same

INITIAL: dict[str, Any] = {
    "orders": {
        "W1": {"status": "pending", "items": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]},
        "W2": {"status": "pending", "items": []},
    },
    "users": {"u1": {"cards": ["c1", "c2"], "address": {"city": "Ulm"}}},
    "log": [],
}


def _given(**given: Any) -> dict[str, Any]:
    return given


@dataclasses.dataclass
class _Holder:
    table: dict[str, Any]


def _updated(table: dict[str, Any]) -> dict[str, Any]:
    other: dict[str, Any] = {}
    other.update(table)
    return other


def _matched(table: dict[str, Any]) -> list[Any]:
    match table:
        case {"W1": order}:
            return [order]
    return []


def _rest(table: dict[str, Any]) -> list[Any]:
    match table:
        case {"W1": _, **rest}:
            return list(rest.values())
    return []


# Every way by which Python hands out the values of a dict.
WAYS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "item": lambda table: [table["W1"]],
    "get": lambda table: [table.get("W1")],
    "values": lambda table: list(table.values()),
    "values reversed": lambda table: list(reversed(table.values())),
    "items": lambda table: [value for _, value in table.items()],
    "items reversed": lambda table: [value for _, value in reversed(table.items())],
    "pop": lambda table: [table.pop("W1")],
    "pop with a default": lambda table: [table.pop("W1", None)],
    "popitem": lambda table: [table.popitem()[1]],
    "setdefault": lambda table: [table.setdefault("W1", {})],
    "dict": lambda table: list(dict(table).values()),
    "unpacked": lambda table: list({**table}.values()),
    "named arguments": lambda table: list(_given(**table).values()),
    "copy": lambda table: list(table.copy().values()),
    "copy.copy": lambda table: list(copy.copy(table).values()),
    "copy.deepcopy": lambda table: list(copy.deepcopy(table).values()),
    "pickle": lambda table: list(pickle.loads(pickle.dumps(table)).values()),
    "or": lambda table: list((table | {"W9": {"items": []}}).values()),
    "or from the left": lambda table: list(({"W9": {"items": []}} | table).values()),
    "updated by": lambda table: list(_updated(table).values()),
    "itemgetter": lambda table: [operator.itemgetter("W1")(table)],
    "sorted": lambda table: [value for _, value in sorted(table.items())],
    "match": _matched,
    "the rest of a match": _rest,
    "asdict": lambda table: list(dataclasses.asdict(_Holder(table))["table"].values()),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_a_value_leads_to_the_original(way):
    shared = SharedState(INITIAL)
    state = shared.begin()
    found = WAYS[way](state["orders"])
    assert found
    for record in found:
        record["status"] = "changed"
        for item in record["items"]:
            item["n"] = "changed"
        record["items"].append("more")
    assert shared.initial == INITIAL
    assert shared.end(shared.begin()) is shared.initial


def test_what_is_left_alone_is_one_object_and_what_is_changed_back_too():
    shared = SharedState(INITIAL)
    state = shared.begin()
    assert shared.end(state) is shared.initial
    state["orders"]["W1"]["status"] = "cancelled"
    list(state["users"].values())
    final = shared.end(state)
    assert type(final["orders"]["W1"]) is dict
    assert final["users"] is shared.initial["users"]
    assert final["orders"]["W2"] is shared.initial["orders"]["W2"]
    assert final["orders"]["W1"]["items"] is shared.initial["orders"]["W1"]["items"]
    state["orders"]["W1"]["status"] = "".join(["pen", "ding"])
    assert shared.end(state) is shared.initial


def test_an_object_that_is_put_in_is_that_object_afterwards():
    state = SharedState(INITIAL).begin()
    order: dict[str, Any] = {"items": []}
    state["orders"]["W3"] = order
    assert state["orders"]["W3"] is order
    state["orders"].update(W4=order)
    assert state["orders"]["W4"] is order
    moved = state["orders"]["W1"]
    state["log"].append(moved)
    state["orders"]["W1"]["status"] = "sent"
    assert state["log"][0]["status"] == "sent"
    assert isinstance(state, dict)
    assert json.loads(json.dumps(state))["log"][0]["status"] == "sent"


@pytest.mark.parametrize(
    ("value", "words"),
    [({1, 2}, "a set"), (float("nan"), "nan"), (object(), "an? ?object"), ({1: "a"}, "int as a key")],
)
def test_what_json_cannot_say_is_refused(value, words):
    shared = SharedState(INITIAL)
    state = shared.begin()
    state["users"]["u1"]["new"] = value
    with pytest.raises(NotJSONError, match=words):
        shared.end(state)


def test_a_state_within_itself_is_refused():
    shared = SharedState(INITIAL)
    state = shared.begin()
    state["users"]["u1"]["self"] = state["users"]
    with pytest.raises(NotJSONError):
        shared.end(state)


def test_a_breach_is_noticed_and_the_next_world_is_right():
    shared = SharedState(INITIAL)
    state = shared.begin()
    dict.__getitem__(state, "users")["u1"] = {}
    with pytest.raises(BreachedError):
        shared.end(state)
    assert shared.initial == INITIAL
    assert shared.end(shared.begin()) is shared.initial


_leaves = st.sampled_from([None, True, 0, 1, 1.5, "a", "b"])
_keys = st.sampled_from(["a", "b", "c"])
states = st.dictionaries(
    _keys,
    st.recursive(
        _leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
        max_leaves=12,
    ),
    max_size=3,
)
# What a tool does: walk to a container, then do one thing there.
steps = st.lists(
    st.tuples(
        st.lists(st.integers(0, 3), max_size=4),
        st.sampled_from(
            ["set", "delete", "replace", "append", "clear", "pop", "popitem", "update", "or", "copy"],
        ),
        _keys,
        _leaves,
    ),
    max_size=8,
)


def walk(state: dict[str, Any], way: list[int]) -> Any:
    place: Any = state
    for turn in way:
        inside = list(place.values()) if isinstance(place, dict) else place
        inside = [part for part in inside if isinstance(part, dict | list)]
        if not inside:
            break
        place = inside[turn % len(inside)]
    return place


def act(state: dict[str, Any], step: tuple[list[int], str, str, Any], kept: list[Any]) -> None:
    """Do one thing as a tool might; `kept` are objects that tools held on to."""
    way, what, key, value = step
    place = walk(state, way)
    kept.append(place)
    other = kept[len(kept) // 2]
    put = value if _holds(other, place) else other
    if isinstance(place, list):
        IN_LISTS.get(what, list.append)(place, put)
    else:
        IN_OBJECTS[what](place, key, put)


# What tools do in a list, and in an object.
IN_LISTS: dict[str, Callable[[list[Any], Any], Any]] = {
    "delete": lambda place, _: place.pop(0) if place else None,
    "clear": lambda place, _: place.clear(),
    "set": lambda place, put: place.insert(0, put),
    "replace": lambda place, put: place.__setitem__(slice(1), [put]),
}
IN_OBJECTS: dict[str, Callable[[dict[str, Any], str, Any], Any]] = {
    "set": lambda place, key, put: place.__setitem__(key, put),
    "delete": lambda place, key, _: place.__delitem__(key) if key in place else None,
    "replace": lambda place, key, _: place.__setitem__(key, {**place, "new": 1}),
    "append": lambda place, key, put: place.setdefault(key, put),
    "clear": lambda place, *_: place.clear(),
    "pop": lambda place, key, _: place.pop(key, None),
    "popitem": lambda place, *_: place.popitem() if place else None,
    "update": lambda place, key, put: place.update({key: put}, b=[1]),
    "or": lambda place, key, put: place.__ior__({key: put}),
    "copy": lambda place, key, _: place.__setitem__(key, copy.deepcopy(place.get("a"))),
}


def _holds(outer: Any, inner: Any) -> bool:
    """Tell whether putting `outer` into `inner` would make a circle."""
    if outer is inner:
        return True
    parts = outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
    return any(_holds(part, inner) for part in parts)


def differences(diff: StateDiff) -> list[str]:
    """Return the differences in an order of their own: that of an object's keys is free."""
    return sorted(json.dumps(each.to_document(), sort_keys=True) for each in diff.all)


@given(states, steps, steps)
def test_sharing_changes_nothing_but_the_cost(initial, gold, candidate):
    shared = SharedState(initial)
    ends = []
    for program in (gold, candidate):
        own, fork = copy.deepcopy(initial), shared.begin()
        kept_own: list[Any] = []
        kept_fork: list[Any] = []
        for step in program:
            act(own, step, kept_own)
            act(fork, step, kept_fork)
        ends.append((own, shared.end(fork)))
        assert ends[-1][0] == ends[-1][1]
        assert same(patched(initial, shared.changes(fork)), own)
    assert shared.initial == initial
    (expected, cheap_expected), (final, cheap_final) = ends
    whole = state_diff(copy.deepcopy(initial), expected, final)
    assert differences(state_diff(shared.initial, cheap_expected, cheap_final)) == differences(whole)


@given(states)
def test_a_fork_is_equal_to_its_original_and_settles_on_it(state):
    fork = forked(state)
    assert fork == state
    assert isinstance(fork, Forked)
    assert settled(copy.deepcopy(fork), state) is state
