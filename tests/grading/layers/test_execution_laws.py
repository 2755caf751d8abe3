"""Test what holds of every two states, deep or large ones too."""

import copy
import gzip
import json
import os
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from tests.grading.benchmark import needs_benchmark
from tests.grading.shop_state import kinds
from toolevals.grading.layers.execution import state_diff
from toolevals.grading.matching.value_differences import ABSENT, Difference, differing, same

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
    assert kinds(state_diff(initial, expected, final)) == {
        "missing": ["/reservations/4WQ150/cabin"],
        "polluted": ["/reservations/4WQ150/insurance"],
    }
    assert best_seconds(lambda: state_diff(initial, expected, final), enough=1) < 1
