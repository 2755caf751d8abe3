"""Patches between states: small, exact, and without copying what stays."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.matching.value_differences import patched, same, state_patch
from toolevals.grading.values.problems import InvalidDocument

BEFORE: dict[str, Any] = {"orders": {"a/b": {"status": "pending", "items": [1, 2]}, "W2": {}}, "users": {"u": {}}}
AFTER: dict[str, Any] = {"orders": {"a/b": {"status": "sent", "items": [1, 2, 3]}, "W3": {"n": 1}}, "users": {"u": {}}}
PATCH: list[dict[str, Any]] = [
    {"op": "remove", "path": "/orders/W2"},
    {"op": "add", "path": "/orders/W3", "value": {"n": 1}},
    {"op": "replace", "path": "/orders/a~1b/status", "value": "sent"},
    {"op": "replace", "path": "/orders/a~1b/items", "value": [1, 2, 3]},
]


def test_a_patch_names_each_change_at_the_deepest_object():
    assert state_patch(BEFORE, AFTER) == PATCH


def test_a_patched_state_shares_what_stayed_and_leaves_the_original():
    made = patched(BEFORE, PATCH)
    assert made == AFTER
    assert made["users"] is BEFORE["users"]
    assert BEFORE["orders"]["W2"] == {}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/orders/W9"},
        {"op": "replace", "path": "/orders/W9", "value": 1},
        {"op": "add", "path": "/orders/W2", "value": 1},
        {"op": "add", "path": "/orders/W9/n", "value": 1},
        {"op": "replace", "path": "/orders/a~1b/items/0", "value": 1},
    ],
)
def test_an_operation_that_does_not_fit_is_refused(operation):
    with pytest.raises(InvalidDocument) as caught:
        patched(BEFORE, [operation])
    assert caught.value.problems[0].pointer == "/0/path"


_keys = st.sampled_from(["a", "b", "~", "c/d", ""])
states = st.dictionaries(
    _keys,
    st.recursive(
        st.sampled_from([None, True, 0, 1, 1.0, "a"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
        max_leaves=10,
    ),
    max_size=4,
)


@given(states, states)
def test_a_patch_makes_the_one_state_of_the_other(before, after):
    assert same(patched(before, state_patch(before, after)), after)
    assert state_patch(before, before) == []
