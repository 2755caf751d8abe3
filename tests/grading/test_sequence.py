import itertools
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading import sequence
from toolevals.grading.sequence import best_sequence

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


@settings(max_examples=150)
@given(problems())
def test_no_assignment_in_order_is_better(problem):
    weights, positions, unordered = problem
    if not weights:
        return
    assigned = best_sequence(weights, positions, unordered)
    assert is_allowed(weights, positions, assigned)
    allowed = (each for each in every_assignment(weights) if is_allowed(weights, positions, each))
    assert total(weights, assigned) == max(total(weights, each) for each in allowed)


@given(problems())
def test_with_little_memory_the_answer_is_still_allowed_and_not_below_the_greedy(problem):
    weights, positions, unordered = problem
    if not weights:
        return
    most = sequence.FIRST_STATES, sequence.MAX_STATES
    sequence.FIRST_STATES = sequence.MAX_STATES = 2
    try:
        assigned = best_sequence(weights, positions, unordered)
    finally:
        sequence.FIRST_STATES, sequence.MAX_STATES = most
    assert is_allowed(weights, positions, assigned)
    assert total(weights, assigned) >= total(weights, sequence._greedy(weights, positions, unordered))


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
