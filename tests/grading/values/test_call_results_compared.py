"""Labels that refer to results of calls: without an order they are compared whatever the numbers of their calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.referring import Step, calls, done, due, graded, ref
from toolevals.grading.matching.equivalence import equivalent

A, B = due("a"), due("b")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ([A, B, due("c", x=ref(1))], [B, A, due("c", x=ref(2))], True),
        ([A, B, due("c", x=ref(1))], [B, A, due("c", x=ref(1))], False),
        ([A, B, due("c", x=ref(1))], [A, B, due("c", x=ref(1, "/other"))], False),
        ([A, due("b", x=ref(1)), due("c", x=ref(2))], [A, due("b", x=ref(1)), due("c", x=ref(1))], False),
        ([A, A, due("c", x=ref(1), y=ref(2))], [A, A, due("c", x=ref(1), y=ref(1))], False),
        ([A, due("c", x=ref(1)), B], [B, A, due("c", x=ref(2))], True),
    ],
)
def test_calls_without_an_order_are_equivalent_whatever_their_numbers(left: Any, right: Any, same: bool) -> None:
    one, other = (calls(unordered=each) for each in (left, right))
    assert equivalent(one, other) is equivalent(other, one) is same


@given(st.permutations(range(4)), st.integers(0, 3), st.integers(0, 3))
def test_renumbering_changes_nothing(order: list[int], first: int, second: int) -> None:
    """Calls without an order that are written in another one, with their references renumbered, expect the same."""
    users = [("p", first), ("q", second)]
    plain = calls(unordered=[*(due(f"t{place}") for place in range(4)), *(due(n, x=ref(to + 1)) for n, to in users)])
    mixed = calls(
        unordered=[*(due(f"t{place}") for place in order), *(due(n, x=ref(order.index(to) + 1)) for n, to in users)]
    )
    assert equivalent(plain, mixed)
    steps: list[Step] = [(f"t{place}", {}, {"id": place}) for place in (2, 0, 3, 1)]
    transcript = done(*steps, ("q", {"x": second}, ""), ("p", {"x": first}, ""))
    assert graded(plain, transcript).statuses == graded(mixed, transcript).statuses
    assert graded(plain, transcript).statuses["outcome"] == "passed"
