import itertools
import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from toolevals.grading.alignment import ordered_assignment
from toolevals.grading.alignment.ordered_assignment import Bound, best_sequence, least_bound

Weights = Sequence[Sequence[int]]


@st.composite
def problems(draw):
    sizes = draw(st.lists(st.integers(1, 2), max_size=3))
    starts = list(itertools.accumulate(sizes, initial=0))
    positions = [tuple(range(start, start + size)) for start, size in zip(starts, sizes, strict=False)]
    unordered = tuple(range(starts[-1], starts[-1] + draw(st.integers(0, 2))))
    rows, columns = starts[-1] + len(unordered), draw(st.integers(1, 4))
    row = st.lists(st.sampled_from((0, 0, 1, 3, 10)), min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows)), positions, unordered


def total(weights: Weights, assigned: Sequence[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(assigned) if column is not None)


def is_allowed(weights: Weights, positions: Sequence[Sequence[int]], assigned: Sequence[int | None]) -> bool:
    taken = [column for column in assigned if column is not None]
    if len(set(taken)) < len(taken):
        return False
    if any(not weights[row][column] for row, column in enumerate(assigned) if column is not None):
        return False
    # Every call of a position stands before every call of a later one.
    places = [[place for row in members if (place := assigned[row]) is not None] for members in positions]
    filled = [each for each in places if each]
    return all(max(before) < min(after) for before, after in itertools.pairwise(filled))


def every_assignment(weights: Weights) -> Iterator[tuple[int | None, ...]]:
    choices: list[list[int | None]] = [[None, *range(len(row))] for row in weights]
    return itertools.product(*choices)


@settings(max_examples=100)
@given(problems())
def test_no_assignment_in_order_is_better(problem):
    weights, positions, unordered = problem
    if not weights:
        return
    assigned = best_sequence(weights, positions, unordered)
    assert is_allowed(weights, positions, assigned)
    allowed = (each for each in every_assignment(weights) if is_allowed(weights, positions, each))
    assert total(weights, assigned) == max(total(weights, each) for each in allowed)


def greedy(weights: Weights, positions: Sequence[Sequence[int]], unordered: Sequence[int]) -> list[int | None]:
    """Take for each expected call in turn the first actual one that fits."""
    assigned: list[int | None] = [None] * len(weights)
    start = 0
    for members in [*positions, unordered]:
        first = 0 if members is unordered else start
        for row in members:
            fits = (place for place in range(first, len(weights[row])) if weights[row][place])
            if (place := next((each for each in fits if each not in assigned), None)) is not None:
                assigned[row] = place
                start = max(start, place + 1)
    return assigned


@pytest.mark.parametrize("steps", [0, 40])
@settings(max_examples=40)
@given(problems())
def test_cut_short_the_answer_is_still_allowed_and_not_below_the_greedy(steps, problem):
    weights, positions, unordered = problem
    if not weights:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_assignment, "MAX_STEPS", steps)
        patch.setattr(ordered_assignment, "LEAST_WIDTH", 1)
        assigned = best_sequence(weights, positions, unordered)
    assert is_allowed(weights, positions, assigned)
    assert total(weights, assigned) >= total(weights, greedy(weights, positions, unordered))


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from((0, 0, 1, 3, 10)), min_size=4, max_size=4), min_size=2, max_size=4))
def test_calls_in_one_line_need_no_search(weights):
    positions = [(row,) for row in range(len(weights))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_assignment, "MAX_STEPS", 0)
        patch.setattr(ordered_assignment, "LEAST_WIDTH", 1)
        assigned = best_sequence(weights, positions, ())
    allowed = (each for each in every_assignment(weights) if is_allowed(weights, positions, each))
    assert total(weights, assigned) == max(total(weights, each) for each in allowed)


@settings(max_examples=40)
@given(problems(), st.lists(st.integers(0, 6), min_size=4, max_size=4))
def test_no_assignment_weighs_more_than_the_bound_whatever_the_prices(problem, prices):
    weights, positions, unordered = problem
    if not weights:
        return
    rows = dict(enumerate(map(list, weights)))
    bound = Bound.of(rows, positions, unordered, prices[: len(weights[0])])
    best = total(weights, best_sequence(weights, positions, unordered))
    assert best <= least_bound(rows, positions, unordered, bound.prices, best).most <= bound.most


@settings(max_examples=40)
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_unordered_calls_and_of_members_is_free(problem, shuffle):
    weights, positions, unordered = problem
    if not weights:
        return
    other = [tuple(shuffle.sample(members, len(members))) for members in positions]
    again = best_sequence(weights, other, tuple(shuffle.sample(unordered, len(unordered))))
    assert total(weights, again) == total(weights, best_sequence(weights, positions, unordered))


@settings(max_examples=40)
@given(problems(), st.integers(0, 4), st.lists(st.sampled_from((0, 1, 10)), min_size=8, max_size=8))
def test_a_further_call_never_takes_anything_away(problem, place, column):
    weights, positions, unordered = problem
    if not weights:
        return
    more = [[*row[:place], weight, *row[place:]] for row, weight in zip(weights, column, strict=False)]
    assert total(more, best_sequence(more, positions, unordered)) >= total(
        weights, best_sequence(weights, positions, unordered)
    )


def test_order_is_kept_and_other_calls_may_stand_between():
    weights = [[1, 0, 1], [0, 0, 1]]
    assert best_sequence(weights, [(0,), (1,)], ()) == [0, 2]
    assert best_sequence([[0, 1], [1, 0]], [(0,), (1,)], ()) in ([1, None], [None, 0])


def test_a_group_fills_one_position():
    # Calls: b, a, c. The group of a and b comes before c.
    weights = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert best_sequence(weights, [(0, 1), (2,)], ()) == [1, 0, 2]
    assert best_sequence(weights, [(2,), (0, 1)], ()) in ([1, 0, None], [None, None, 2])


def test_an_unordered_call_leaves_the_ordered_one_its_only_chance():
    # The first call fits the first ordered and the unordered expectation; the last fits the unordered one too.
    weights = [[5, 0, 0], [0, 5, 0], [5, 0, 5]]
    assert best_sequence(weights, [(0,), (1,)], (2,)) == [0, 1, 2]


def test_cost_stays_small_for_many_alike():
    rows = 24
    weights = [[1000 + (row == column) for column in range(40)] for row in range(rows)]
    positions = [(0,), tuple(range(1, 12)), (12,)]
    assigned = best_sequence(weights, positions, tuple(range(13, rows)))
    assert is_allowed(weights, positions, assigned)
    assert None not in assigned


def contested(seed: int, group: int = 1) -> tuple[list[list[int]], list[tuple[int, ...]], tuple[int, ...]]:
    """32 ordered and 32 unordered calls of one tool, each with one of 64 calls that it matches, out of order."""
    matching = random.Random(seed).sample(range(64), 64)
    weights = [[1_000_999 if matching[row] == column else 998 for column in range(64)] for row in range(64)]
    return weights, [tuple(range(first, first + group)) for first in range(0, 32, group)], tuple(range(32, 64))


@pytest.mark.parametrize("group", [1, 4])
def test_cost_stays_bounded_where_all_compete_for_all(group):
    problem = contested(7, group)
    # 60 ms where it was measured; the margin is for a busy machine.
    assert best_seconds(lambda: best_sequence(*problem), enough=0.6) < 0.6
    assigned = best_sequence(*problem)
    assert is_allowed(problem[0], problem[1], assigned)
    # All 32 unordered calls have a match of their own, and so has every rising run of the ordered ones.
    assert total(problem[0], assigned) // 1_000_000 > 32


def test_the_answer_is_known_to_be_best_where_the_search_ends_by_itself():
    weights = [[1_000_999 if (3 * row + column) % 5 == 0 else 998 for column in range(10)] for row in range(10)]
    positions, unordered = [(0, 1), (2,), (3,), (4,)], tuple(range(5, 10))
    found = total(weights, best_sequence(weights, positions, unordered))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_assignment, "MAX_STEPS", 10**6)
        assert total(weights, best_sequence(weights, positions, unordered)) == found
