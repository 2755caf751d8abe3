"""Filters show what a recount by hand shows."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.cases.queries import listed_cases
from reports.filters.case_filters import Effect, Filters, Split, read_case_filter, read_filters
from reports.filters.matrix_cells import matrix_counts
from reports.matrix.state import MatrixState, Measure, Show, read_matrix_state
from tests.fixtures.draws import draws
from tests.reports.building import Builder, Case
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.workspace.projects.services import project_create

BUCKETS, DIFFICULTIES = ["", "selection", "no call"], ["", "easy", "hard"]
NAMES = st.sampled_from(["a", "b", NONE])
CASES = st.builds(
    Case,
    NAMES,
    NAMES,
    bucket=st.sampled_from(BUCKETS),
    difficulty=st.sampled_from(DIFFICULTIES),
    status=st.sampled_from(["scored", "scored", "errored"]),
)
SLUGS = count()


@pytest.mark.django_db
@draws(20)
@given(
    cases=st.lists(CASES, min_size=1, max_size=30),
    bucket=st.sampled_from(BUCKETS),
    difficulty=st.sampled_from(DIFFICULTIES),
    view=st.sampled_from(list(View)),
)
def test_a_filtered_matrix_is_a_recount(db, cases, bucket, difficulty, view):
    project = project_create(actor=None, slug=f"filter-{next(SLUGS)}", name="Filter")
    grading = Builder(project).grading(cases)
    chosen = [
        case
        for case in cases
        if case.status == "scored" and bucket in ("", case.bucket) and difficulty in ("", case.difficulty)
    ]
    counts = matrix_counts(grading, Filters(view, bucket, difficulty))
    assert counts == Counter((case.expected, case.actual) for case in chosen)
    for (expected, actual), number in counts.items():
        wanted = read_case_filter(
            {"expected": expected, "actual": actual, "bucket": bucket, "difficulty": difficulty, "view": view}
        )
        assert listed_cases(grading, wanted).count() == number


STATES = st.builds(
    MatrixState,
    filters=st.builds(
        Filters,
        st.sampled_from(list(View)),
        st.sampled_from(BUCKETS),
        st.sampled_from(DIFFICULTIES),
        unit=st.sampled_from(list(Unit)),
        gold=st.sampled_from(["", "agreed"]),
        tools=st.sampled_from(["", *Effect]),
        turn=st.none() | st.integers(0, 9),
        trial=st.none() | st.integers(1, 9),
        since=st.none() | st.dates(),
        collapse=st.sampled_from([(), ("*",), ("a.", "b__")]),
        split=st.sampled_from(list(Split)),
    ),
    find=st.sampled_from(["", "order"]),
    grading=st.none() | st.integers(1, 99),
    measure=st.sampled_from(list(Measure)),
    hide_diagonal=st.booleans(),
    all_classes=st.booleans(),
    show=st.sampled_from(list(Show)),
)


@given(STATES, st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_a_state_comes_back_from_its_address(state, name):
    from django.http import QueryDict

    state = read_matrix_state(QueryDict(state.cell_query(name, "b")))
    assert read_matrix_state(QueryDict(state.query())) == state
    assert (state.expected, state.actual) == (name, "b")


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "view",
                "bucket",
                "order",
                "measure",
                "grading",
                "column",
                "status",
                "turn",
                "trial",
                "since",
                "tools",
                "collapse",
                "split",
            ]
        ),
        st.text(),
    )
)
def test_whatever_stands_in_the_address_can_be_read(parameters):
    assert "\0" not in read_filters(parameters).bucket
    read_matrix_state(parameters)
    wanted = read_case_filter(parameters)
    assert bool(wanted.column) == bool(wanted.status)
