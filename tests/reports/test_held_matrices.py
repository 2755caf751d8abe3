"""A matrix that can't change is held by the process; what people may still change is counted each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from django.core.cache import cache

from reports.home import confusions
from reports.matrix import queries as counted
from reports.matrix import table
from reports.matrix.state import MatrixState, read_matrix_state
from tests.reports.building import cases_of
from tests.reports.reading import embedded
from toolevals.grading.values.verdicts import NONE
from toolevals.presentation.numbers import percent, whole_percent
from toolevals.presentation.palettes import STEPS, count_bounds, count_step, heat_step
from toolevals.runs.models import CaseTag, Transcript

pytestmark = pytest.mark.django_db
CELLS = {("x.a", "x.a"): 8, ("x.a", "b"): 3, ("b", "b"): 5, ("b", NONE): 1, (NONE, NONE): 4, (NONE, "x.a"): 2}
ADDRESSES: tuple[dict[str, str], ...] = (
    {},
    {"measure": "row"},
    {"measure": "column", "order": "name"},
    {"measure": "cost"},
    {"diagonal": "hide", "view": "set"},
    {"find": "b", "bucket": "selection"},
    {"unit": "majority", "trial": "1"},
    {"collapse": "*", "classes": "all"},
)


def forget() -> None:
    counted._held.cache_clear()
    confusions._held.cache_clear()
    table._written.cache_clear()
    cache.clear()


@pytest.fixture
def grading(build) -> Iterator[object]:
    forget()
    yield build.grading(cases_of(CELLS, bucket="selection"))
    forget()


def document(get: Callable[..., Any], grading: Any, **query: str) -> Any:
    return embedded(get("matrix", grading, **query), "matrix-data")


def test_the_small_matrix_of_a_finished_grading_is_drawn_once(grading, django_assert_num_queries):
    first = confusions.confusions_of(grading)
    with django_assert_num_queries(0):
        assert confusions.confusions_of(grading) is first
    assert sum(cell.count for row in first.rows for cell in row.cells) == sum(CELLS.values())


def test_the_small_matrix_has_a_path_for_each_step_and_one_for_each_ring(build):
    names = [f"tool_{place}" for place in range(confusions.MOST_CLASSES + 5)]
    wrong = {(name, after): 1 + place % 7 for place, (name, after) in enumerate(pairwise(names))}
    found = confusions.confusions_of(build.grading(cases_of(dict.fromkeys(zip(names, names, strict=True), 2) | wrong)))
    assert (len(found.rows), found.left_out, found.is_named) == (confusions.MOST_CLASSES, 5, False)
    squares = {each.look: each.path.count("z") for each in found.steps}
    assert squares == Counter(cell.step for row in found.rows for cell in row.cells)
    assert sum(squares.values()) == confusions.MOST_CLASSES**2
    ringed = [each.cell for each in found.largest]
    steps = [heat_step(cell.count, cell.row_total, right=False) for cell in ringed]
    assert {each.look: each.path.count("z") for each in found.ringed} == Counter(steps)


def test_a_run_page_is_of_the_matrix_that_is_held(get, grading):
    page = get("run", grading)
    assert counted._held.cache_info().misses == 1
    assert get("matrix", grading).context["matrix"].confusions is page.context["confusions"]
    assert counted._held.cache_info().misses == 1


@pytest.mark.parametrize("query", ADDRESSES)
def test_what_is_held_is_what_is_counted(get, grading, query):
    first, second = (document(get, grading, **query) for _ in range(2))
    for other in ADDRESSES:
        document(get, grading, **other)
    third = document(get, grading, **query)
    forget()
    assert first == second == third == document(get, grading, **query)


def test_a_second_view_counts_nothing_and_a_cell_is_read_from_the_same_matrix(get, grading):
    page = get("matrix", grading)
    for query in ({}, {"expected": "b", "actual": NONE}, {"show": "table"}):
        assert get("matrix", grading, **query).context["matrix"] is page.context["matrix"]
    assert counted.counted_matrix(grading, MatrixState()) is page.context["matrix"]
    other = get("matrix", grading, bucket="selection").context["matrix"]
    assert other is not page.context["matrix"]


def test_another_gradings_matrix_is_another(get, build, grading):
    assert get("matrix", grading).context["matrix"].total == sum(CELLS.values())
    assert get("matrix", build.grading(cases_of({("a", "b"): 2}))).context["matrix"].total == 2


def test_tags_of_the_team_are_counted_each_time(get, grading):
    assert not get("matrix", grading, tagged="odd").context["matrix"].total
    CaseTag.objects.create(transcript=Transcript.objects.filter(run=grading.run)[0], tag="odd")
    assert get("matrix", grading, tagged="odd").context["matrix"].total == 1
    assert not counted.stays(grading, read_matrix_state({"tagged": "odd"}))


def test_no_more_are_held_than_said(get, grading):
    for trial in range(1, 2 * counted.MOST_HELD):
        get("matrix", grading, trial=str(trial))
    assert counted._held.cache_info().currsize == counted.MOST_HELD
    assert table._written.cache_info().currsize <= counted.MOST_HELD


@pytest.mark.parametrize("measure", ["count", "row", "column"])
@pytest.mark.parametrize("diagonal", ["", "hide"])
def test_the_columns_of_the_document_are_the_cells(get, grading, measure, diagonal):
    page = get("matrix", grading, measure=measure, diagonal=diagonal)
    found, matrix = embedded(page, "matrix-data"), page.context["matrix"]
    cells = [cell for cell in matrix.cells if not (diagonal and cell.right)]
    wholes = [cell.column_total if measure == "column" else cell.row_total for cell in cells]
    shares = [cell.count / whole for cell, whole in zip(cells, wholes, strict=True)]
    named = [(found["rows"][row], found["columns"][column]) for row, column in found["cells"]]
    assert named == [(cell.expected, cell.actual) for cell in cells]
    assert found["counts"] == [cell.count for cell in cells]
    assert found["row_percent"] == [percent(cell.row_share) for cell in cells]
    assert found["column_percent"] == [percent(cell.column_share) for cell in cells]
    bounds = count_bounds(max(cell.count for cell in matrix.confusions))
    steps = [
        count_step(cell.count, bounds)
        if measure == "count" and not cell.right
        else heat_step(cell.count, whole, right=cell.right)
        for cell, whole in zip(cells, wholes, strict=True)
    ]
    assert [STEPS[number - 1] for number in found["heat"]] == steps
    texts = [str(cell.count) for cell in cells] if measure == "count" else [whole_percent(share) for share in shares]
    assert found["text"] == texts
    assert [named[place] for place in found["confusions"]] == list(matrix.confusions.keys)
