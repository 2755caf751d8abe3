"""State diffs and the verdict on them."""

import pytest

from tests.grading.shop_state import CANCELLED, INITIAL, changed, kinds
from toolevals.grading.layers.execution import grade_execution, state_diff
from toolevals.grading.matching.value_differences import ABSENT, differing, same
from toolevals.grading.values.problems import pointer_to


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
    assert pointer_to(("a/b", "~", 0)) == "/a~1b/~0/0"


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
        (
            {"expected": CANCELLED, "final": CANCELLED, "crashed": "out of memory"},
            "errored",
            "The simulator failed: out of memory.",
        ),
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
