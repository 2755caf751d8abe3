"""Confusable classes stand together, in an order that depends on nothing but the counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.confusion import confusable_order

NAMES = list("abcdefgh")
COUNTS = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), st.integers(1, 20))


@given(COUNTS)
def test_every_class_stands_once_and_each_group_is_of_one_piece(counts):
    order = confusable_order(NAMES, counts)
    assert sorted(order) == NAMES
    # Whatever confusions connect stands in one piece.
    group = {name: {name} for name in NAMES}
    for one, other in counts:
        joined = group[one] | group[other]
        group |= dict.fromkeys(joined, joined)
    for members in group.values():
        places = sorted(order.index(name) for name in members)
        assert places == list(range(places[0], places[0] + len(places)))


@given(COUNTS, st.randoms())
def test_the_order_of_the_counts_does_not_matter(counts, random):
    shuffled = list(counts.items())
    random.shuffle(shuffled)
    assert confusable_order(NAMES, dict(shuffled)) == confusable_order(NAMES, counts)


def test_worked_by_hand():
    """A and c: 6 of 6 + 6 + 4 = 16 cases, .375; c and d: 4 of 10 + 8 = 18, .222; b stands alone, unconfused.

    N_a = 6 (all with c), N_c = 6 + 4 = 10, N_d = 4 + 4 = 8. a and c join at 6/16; then d, on the side of c. e and f,
    1 of 1 + 1, are the most alike but have the fewer confusions: they come after.
    """
    counts = {("a", "c"): 6, ("d", "c"): 4, ("d", "d"): 4, ("b", "b"): 5, ("e", "f"): 1}
    assert confusable_order(list("abcdef"), counts) == ["a", "c", "d", "e", "f", "b"]


def test_the_mean_over_pairs_decides_and_not_the_nearest_member():
    """X joins the one that it is always confused with, not the pair of which one member is like it."""
    counts = {("a", "b"): 30, ("a", "x"): 6, ("x", "y"): 10, ("a", "a"): 4, ("b", "b"): 20}
    order = confusable_order(list("abxy"), counts)
    assert abs(order.index("x") - order.index("y")) == 1
    assert abs(order.index("a") - order.index("b")) == 1
    assert abs(order.index("a") - order.index("x")) == 1
