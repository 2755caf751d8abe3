"""Cases counted by all that they can be narrowed by: every sum is that of the cases, and nothing counts twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.building import HISTORY, STATUS, call, silence, uploaded_run, version_of
from toolevals.runs.aggregates.cube import CONTEXT, NO_COSTS, Counted, Unit, View
from toolevals.runs.aggregates.read_cases import counted_cases, counted_ensure
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import AlignedPair, CaseGrade, CountedCases, Grading, PlacedCase

CONTEXTS = [(bucket, "", tag, *[""] * (len(CONTEXT) - 3)) for bucket in ("x", "y", "é") for tag in ("", "WRONG_ANSWER")]
CELLS = st.sampled_from([("", ""), ("a", "a"), ("a", "b"), ("b, c", "(none)")])
KEYS = st.tuples(st.integers(0, len(CONTEXTS) - 1), CELLS)
COSTS = st.tuples(st.integers(0, 9), st.integers(0, 10**30), st.integers(0, 9), st.integers(0, 10**12))


@given(st.dictionaries(KEYS, st.tuples(st.integers(1, 10**6), COSTS)))
def test_every_condition_sums_what_it_lets_through(held):
    counts = {key: count for key, (count, _) in held.items()}
    costs = {key: cost for key, (_, cost) in held.items() if cost != NO_COSTS}
    made = Counted.of(CONTEXTS, counts, costs)
    counted = Counted.from_document(made.to_document(), made.to_bytes(), made.costs_to_bytes())
    assert counted == made
    for bucket in ("x", "y", "é", "z"):
        for tag in (None, "WRONG_ANSWER"):
            asked: dict[str, Any] = {"bucket": lambda value, wanted=bucket: value == wanted}
            if tag:
                asked["tag"] = lambda value: value == "WRONG_ANSWER"
            contexts = counted.where(asked)
            chosen = {number for number, each in enumerate(CONTEXTS) if each[0] == bucket and tag in (None, each[2])}
            assert set(contexts) == chosen
            cells: Counter[tuple[str, str]] = Counter()
            spent: dict[tuple[str, str], tuple[int, ...]] = {}
            for (context, cell), count in counts.items():
                if context in chosen:
                    cells[cell] += count
                    if (context, cell) in costs:
                        before = spent.get(cell, NO_COSTS)
                        spent[cell] = tuple(map(sum, zip(before, costs[context, cell], strict=True)))
            assert sum(counted.totals(contexts)) == cells.total()
            del cells["", ""]
            spent.pop(("", ""), None)
            assert counted.in_cells(contexts) == cells
            assert {cell: cost for cell, cost in counted.costs_in_cells(contexts).items() if cost != NO_COSTS} == spent


def run_of_two_trials(project: Any, run_jobs: Any) -> Any:
    two = {"id": "refund", "tool_calls": [{"name": name, "arguments": {}} for name in (STATUS, HISTORY)]}
    lines = [call("status", STATUS), call("history", STATUS), two, silence("hello")]
    lines += [call("status", HISTORY, trial=1), call("history", STATUS, trial=1), two | {"trial": 1}]
    run = uploaded_run(project, version_of(project), lines, trials=2)
    run_jobs()
    run.refresh_from_db()
    return run


@pytest.mark.django_db
def test_a_finished_grading_is_counted(project, run_jobs):
    grading = run_of_two_trials(project, run_jobs).grading
    kept = {(row.view, row.unit) for row in CountedCases.objects.filter(grading=grading)}
    assert kept == {(view, unit) for view in View for unit in Unit}
    assert_counts(grading)


def assert_counts(grading: Grading) -> None:
    """Every case is counted once by first calls and by sets, every pair by aligned calls, every example once."""
    cases, pairs = CaseGrade.objects.filter(grading=grading), AlignedPair.objects.filter(grading=grading)
    first = Counter(cases.exclude(expected="").values_list("expected", "actual"))
    aligned = Counter(pairs.values_list("expected", "actual"))
    for view, wanted in ((View.FIRST, first), (View.ALIGNED, aligned)):
        _, counted = counted_cases(grading, view, Unit.TRIAL)
        assert counted.in_cells(range(len(counted.contexts))) == wanted
        for column in ("bucket", "difficulty", "outcome", "arguments", "tag", "mode"):
            assert counted.values(column) == set(cases.values_list(column, flat=True))
    _, counted = counted_cases(grading, View.SET, Unit.TRIAL)
    assert sum(counted.totals(range(len(counted.contexts)))) == cases.count()
    for view in View:
        _, counted = counted_cases(grading, view, Unit.MAJORITY)
        placed = PlacedCase.objects.filter(grading=grading, view=view, unit=Unit.MAJORITY)
        examples = placed.values_list("case__transcript__entry", flat=True)
        assert len(set(placed.values_list("case", flat=True))) == len(set(examples))
        assert Counter(map(counted.cell, placed.values_list("cell", flat=True))) == counted.in_cells(
            range(len(counted.contexts))
        )


@pytest.mark.django_db
def test_grading_again_counts_anew_and_leaves_what_was(project, run_jobs):
    run = run_of_two_trials(project, run_jobs)
    first = run.grading
    grading_start(run=run, actor=None)
    run_jobs()
    run.refresh_from_db()
    assert run.grading != first
    for grading in (first, run.grading):
        assert CountedCases.objects.filter(grading=grading).count() == 6
        assert_counts(grading)


@pytest.mark.django_db
def test_one_call_a_case_is_counted_once_for_all_views(project, run_jobs):
    run = uploaded_run(
        project, version_of(project), [call("status", STATUS), call("history", STATUS), silence("hello")]
    )
    run_jobs()
    run.refresh_from_db()
    assert [(row.view, row.unit) for row in CountedCases.objects.all()] == [(View.FIRST, Unit.TRIAL)]
    assert not PlacedCase.objects.exists()
    for view in View:
        for unit in Unit:
            assert counted_cases(run.grading, view, unit) == counted_cases(run.grading, View.FIRST, Unit.TRIAL)


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["asked", "command"])
def test_a_grading_from_before_is_counted_once(project, run_jobs, how):
    grading = run_of_two_trials(project, run_jobs).grading
    wanted = [counted_cases(grading, view, unit) for view in View for unit in Unit]
    placed = sorted(PlacedCase.objects.values_list("view", "unit", "cell", "case"))
    CountedCases.objects.all().delete()
    PlacedCase.objects.all().delete()
    for _ in range(2):
        if how == "command":
            call_command("count_gradings", verbosity=0)
        else:
            counted_ensure(grading)
    assert [counted_cases(grading, view, unit) for view in View for unit in Unit] == wanted
    assert sorted(PlacedCase.objects.values_list("view", "unit", "cell", "case")) == placed
