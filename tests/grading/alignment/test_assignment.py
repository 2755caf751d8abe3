import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from toolevals.grading.alignment.assignment import best_assignment, priced_assignment


@st.composite
def weight_tables(draw, most=5, values=(0, 0, 1, 2, 5, 9)):
    rows, columns = draw(st.integers(1, most)), draw(st.integers(0, most))
    row = st.lists(st.sampled_from(values), min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


def total(weights: list[list[int]], assigned: list[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(assigned) if column is not None)


def greedy(weights: list[list[int]]) -> list[int | None]:
    used: set[int] = set()
    chosen: list[int | None] = []
    for row in weights:
        column = next((place for place, weight in enumerate(row) if weight and place not in used), None)
        chosen.append(column)
        used |= {column} if column is not None else set()
    return chosen


@given(weight_tables())
def test_no_assignment_is_better(weights):
    assigned = best_assignment(weights)
    taken = [column for column in assigned if column is not None]
    assert len(set(taken)) == len(taken)
    assert all(weights[row][column] for row, column in enumerate(assigned) if column is not None)
    places: list[int | None] = [*range(len(weights[0])), *[None] * len(weights)]
    every = itertools.permutations(places, len(weights))
    assert total(weights, assigned) == max(total(weights, list(each)) for each in every)


@given(weight_tables(most=9))
def test_the_best_is_never_below_the_greedy(weights):
    assert total(weights, best_assignment(weights)) >= total(weights, greedy(weights))


@pytest.mark.parametrize("weight", [lambda _: 7, lambda product: 1000 - product % 997])
def test_sixty_four_calls_for_sixty_four_take_no_time(weight):
    weights = [[weight(row * column) for column in range(64)] for row in range(64)]
    # 3 ms where it was measured; the margin is for a busy machine.
    assert best_seconds(lambda: best_assignment(weights), enough=0.2) < 0.2
    assigned = best_assignment(weights)
    assert sorted(column for column in assigned if column is not None) == list(range(64))


def test_nothing_to_assign():
    assert best_assignment([]) == []
    assert best_assignment([[], []]) == [None, None]
    assert best_assignment([[0, 0]]) == [None]


@given(weight_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_is_free(weights, shuffle):
    columns = shuffle.sample(range(len(weights[0])), len(weights[0]))
    other = [[row[column] for column in columns] for row in shuffle.sample(weights, len(weights))]
    assert total(other, best_assignment(other)) == total(weights, best_assignment(weights))


@given(weight_tables(), st.lists(st.sampled_from((0, 1, 9)), min_size=5, max_size=5))
def test_a_further_column_never_takes_anything_away(weights, column):
    more = [[*row, weight] for row, weight in zip(weights, column, strict=False)]
    assert total(more, best_assignment(more)) >= total(weights, best_assignment(weights))


@given(weight_tables(most=9))
def test_prices_prove_the_assignment_the_best(weights):
    assigned, prices = priced_assignment(weights)
    gains = [max([weight - price for weight, price in zip(row, prices, strict=True)], default=0) for row in weights]
    assert all(price >= 0 for price in prices)
    assert (
        sum(max(0, gain) for gain in gains) + sum(prices)
        >= total(weights, assigned)
        == total(weights, best_assignment(weights))
    )


def test_calls_that_do_not_compete_cost_no_more_than_reading_the_table():
    def cost(size: int) -> float:
        weights = [[int(row == column) for column in range(size)] for row in range(size)]
        assert best_assignment(weights) == list(range(size))
        return best_seconds(lambda: best_assignment(weights)) / size**2

    # Cubic would be eight times as much for a cell.
    assert cost(512) < 4 * cost(64)
