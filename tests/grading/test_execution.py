"""State diffs and the verdict on them."""

import copy
import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.benchmark import needs_benchmark
from toolevals.grading.execution import StateDiff, grade_execution, state_diff
from toolevals.grading.snapshots import ABSENT, Difference, differing, pointer, same

INITIAL: dict[str, Any] = {
    "orders": {
        "W1": {"status": "pending", "total": 45, "items": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]},
        "W2": {"status": "pending", "flagged": False},
    },
    "users": {"u1": {"cards": ["c1", "c2"]}},
}


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """Return the initial state with changes at pointers; ABSENT removes."""
    state = copy.deepcopy(INITIAL)
    for where, value in changes:
        *way, last = where[1:].split("/")
        place: Any = state
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key: Any = int(last) if isinstance(place, list) else last
        if value is ABSENT:
            del place[key]
        else:
            place[key] = value
    return state


def kinds(diff: StateDiff) -> dict[str, list[str]]:
    return {
        kind: [each.path for each in getattr(diff, kind)]
        for kind in ("wrong", "missing", "polluted")
        if getattr(diff, kind)
    }


CANCELLED = changed(("/orders/W1/status", "cancelled"))


@pytest.mark.parametrize(
    ("final", "found"),
    [
        (CANCELLED, {}),
        (INITIAL, {"missing": ["/orders/W1/status"]}),
        (changed(("/orders/W1/status", "returned")), {"wrong": ["/orders/W1/status"]}),
        (
            changed(("/orders/W1/status", "cancelled"), ("/orders/W2/flagged", True)),
            {"polluted": ["/orders/W2/flagged"]},
        ),
        (
            changed(("/orders/W2/status", "cancelled")),
            {"missing": ["/orders/W1/status"], "polluted": ["/orders/W2/status"]},
        ),
        (
            changed(("/orders/W1/status", "cancelled"), ("/orders/W2", ABSENT)),
            {"polluted": ["/orders/W2"]},
        ),
        (
            changed(("/orders/W1/status", "cancelled"), ("/orders/W3", {})),
            {"polluted": ["/orders/W3"]},
        ),
        (changed(("/orders/W1", ABSENT)), {"missing": ["/orders/W1"]}),
        (
            changed(("/orders/W1/status", "cancelled"), ("/orders/W1/items/1/n", 3)),
            {"polluted": ["/orders/W1/items/1/n"]},
        ),
        (
            changed(("/orders/W1/status", "cancelled"), ("/orders/W1/items/0", ABSENT)),
            {"polluted": ["/orders/W1/items/0"]},
        ),
        (
            changed(("/orders/W1/status", "cancelled"), ("/users/u1/cards", ["c0", "c1", "c2"])),
            {"polluted": ["/users/u1/cards/0"]},
        ),
        (
            changed(("/orders/W1/status", "cancelled"), ("/orders/W1/items", INITIAL["orders"]["W1"]["items"][::-1])),
            {"polluted": ["/orders/W1/items"]},
        ),
    ],
)
def test_what_went_wrong_with_a_cancellation(final, found):
    assert kinds(state_diff(INITIAL, CANCELLED, final)) == found


def test_a_removal_that_was_not_made_is_missing():
    expected = changed(("/orders/W2", ABSENT))
    assert kinds(state_diff(INITIAL, expected, INITIAL)) == {"missing": ["/orders/W2"]}


def test_an_added_record_that_is_not_there_is_missing_and_a_wrong_field_in_it_is_wrong():
    expected = changed(("/orders/W3", {"status": "new", "total": 9}))
    assert kinds(state_diff(INITIAL, expected, INITIAL)) == {"missing": ["/orders/W3"]}
    final = changed(("/orders/W3", {"status": "new", "total": 8}))
    assert kinds(state_diff(INITIAL, expected, final)) == {"wrong": ["/orders/W3/total"]}


def test_without_an_initial_state():
    final = changed(("/orders/W1/status", "returned"), ("/orders/W2", ABSENT), ("/orders/W3", {}))
    assert kinds(state_diff(None, CANCELLED, final)) == {
        "wrong": ["/orders/W1/status"],
        "missing": ["/orders/W2"],
        "polluted": ["/orders/W3"],
    }


def test_differences_by_record():
    final = changed(("/orders/W1/total", 1), ("/orders/W2/flagged", True))
    by_record = state_diff(INITIAL, CANCELLED, final).by_record
    assert {record: [each.path for each in found] for record, found in by_record.items()} == {
        "/orders/W1": ["/orders/W1/status", "/orders/W1/total"],
        "/orders/W2": ["/orders/W2/flagged"],
    }


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ("a", "a ", False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ([1], (1,), True),
        ({"a": {"b": {"c": True}}}, {"a": {"b": {"c": 1}}}, False),
        ({"a": {"b": {"c": None}}}, {"a": {"b": {"c": float("nan")}}}, False),
        ({"a": {"b": {"c": 2**70}}}, {"a": {"b": {"c": 2**70}}}, True),
        ({"a": None}, {}, False),
        ([], {}, False),
    ],
)
def test_equality(one, other, equal):
    assert same(one, other) is equal
    assert same(other, one) is equal


def test_items_are_the_same_by_their_id_only_where_it_is_unique():
    one = [{"item_id": 1, "n": 1}, {"item_id": 2, "n": 2}]
    assert [each.path for each in differing(ABSENT, one, one[1:])] == [(0,)]
    twice = [{"item_id": 1, "n": 1}, {"item_id": 1, "n": 2}]
    assert [each.path for each in differing(ABSENT, twice, [twice[1], twice[0]])] == [(0, "n"), (1, "n")]


def test_pointers_are_escaped():
    assert pointer(("a/b", "~", 0)) == "/a~1b/~0/0"


@pytest.mark.parametrize(
    ("given", "status", "reason"),
    [
        ({"expected": None, "final": INITIAL}, "unscored", "No final state is expected"),
        ({"expected": CANCELLED, "final": None}, "unscored", "No simulator"),
        ({"expected": CANCELLED, "final": CANCELLED}, "passed", ""),
        (
            {"expected": CANCELLED, "final": INITIAL},
            "failed",
            'The final state is not the expected one: /orders/W1/status should be "cancelled" and is "pending".',
        ),
        (
            {"expected": INITIAL, "final": CANCELLED},
            "failed",
            "The final state is not the expected one: "
            '/orders/W1/status should have stayed "pending" and is "cancelled".',
        ),
        ({"expected": CANCELLED, "final": None, "raised": "KeyError: W9"}, "failed", "The tool refused"),
        ({"expected": CANCELLED, "final": CANCELLED, "crashed": "out of memory"}, "errored", "The sandbox died"),
    ],
)
def test_verdict(given, status, reason):
    execution = grade_execution(INITIAL, **given)
    assert execution.verdict.status == status
    assert execution.verdict.value == {"passed": 1.0, "failed": 0.0}.get(status)
    assert execution.verdict.reason.startswith(reason)


def test_a_reason_names_the_first_paths_and_counts_the_rest():
    final = {"orders": {}, "users": {}, "x": 1, "y": 2}
    assert grade_execution(INITIAL, CANCELLED, final).verdict.reason == (
        "The final state is not the expected one: /orders/W1 is missing; /orders/W2 is missing; "
        "/users/u1 is missing; and 2 more."
    )


def test_a_document_leaves_out_what_is_not_there():
    (difference,) = state_diff(INITIAL, INITIAL, changed(("/orders/W3", None))).polluted
    assert difference.to_document() == {
        "kind": "polluted",
        "path": "/orders/W3",
        "record": "/orders/W3",
        "actual": None,
    }


_leaves = st.sampled_from([None, True, False, 0, 1, 1.5, "a", "b", 2**70])
_items = st.builds(lambda name, value: {"id": name, "v": value}, st.integers(0, 4), _leaves)
states: st.SearchStrategy[Any] = st.recursive(
    _leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(_items, max_size=4, unique_by=lambda item: item["id"])
        | st.dictionaries(st.sampled_from(["a", "b", "c/d", "id"]), inner, max_size=4)
    ),
    max_leaves=14,
)


def applied(state: Any, differences: list[Difference]) -> Any:
    """Return the state with each difference undone: what is deeper first, then in place, removed, put in."""
    root = {"root": copy.deepcopy(state)}

    def order(each: Difference) -> tuple[int, int, int]:
        last = each.path[-1] if each.path and isinstance(each.path[-1], int) else 0
        if each.expected is ABSENT:
            return (-len(each.path), 1, -last)
        return (-len(each.path), 2 if each.actual is ABSENT else 0, last)

    for each in sorted(differences, key=order):
        *way, last = ("root", *each.path)
        place: Any = root
        for step in way:
            place = place[step]
        if each.expected is ABSENT:
            del place[last]
        elif each.actual is ABSENT and isinstance(place, list):
            place.insert(int(last), each.expected)
        else:
            place[last] = each.expected
    return root["root"]


@given(states)
def test_equal_states_do_not_differ(state):
    assert not state_diff(state, state, copy.deepcopy(state))


@given(states, states)
def test_undoing_the_differences_gives_the_expected_state(expected, actual):
    differences = list(differing(ABSENT, expected, actual))
    assert same(applied(actual, differences), expected)


@given(states, states, states)
def test_every_difference_has_one_kind_and_the_count_is_symmetric(initial, expected, final):
    there = state_diff(initial, expected, final)
    back = state_diff(initial, final, expected)
    assert len(there) == len(back)
    assert len(there) == len(list(differing(ABSENT, expected, final)))
    assert bool(there) is not same(expected, final)


@given(states, states)
def test_what_should_have_stayed_is_never_wrong_or_missing(before, after):
    initial, final = {"state": before}, {"state": after}
    diff = state_diff(initial, initial, final)
    assert not diff.wrong
    assert not diff.missing
    unchanged = state_diff(initial, final, initial)
    assert not unchanged.polluted
    assert not unchanged.wrong


def test_deep_values_are_compared_without_recursion():
    one: Any = 1
    other: Any = 2
    for _ in range(20_000):
        one, other = [one], {"a": other} if isinstance(other, list) else [other]
    assert len(list(differing(ABSENT, one, other))) == 1
    deep: Any = 1
    twin: Any = 2
    for _ in range(20_000):
        deep, twin = [deep], [twin]
    (found,) = differing(ABSENT, deep, twin)
    assert len(found.path) == 20_000


@needs_benchmark
def test_real_databases_are_compared_fast():
    path = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / "db_airline_tau1_at_run.json.gz"
    text = gzip.decompress(path.read_bytes())
    initial, expected, final = (json.loads(text) for _ in range(3))
    reservation = final["reservations"]["4WQ150"]
    expected["reservations"]["4WQ150"]["cabin"] = "economy"
    reservation["insurance"] = "yes"
    start = time.process_time()
    diff = state_diff(initial, expected, final)
    seconds = time.process_time() - start
    assert kinds(diff) == {
        "missing": ["/reservations/4WQ150/cabin"],
        "polluted": ["/reservations/4WQ150/insurance"],
    }
    assert seconds < 1
