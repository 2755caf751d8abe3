"""Cases as numbers: nothing is lost, and a finished grading keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from django.db.models import Q
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.building import STATUS, call, uploaded_run, version_of
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.counts.compared_run import ComparedRun
from toolevals.runs.counts.kept_numbers import numbers_from_bytes, numbers_to_bytes, small_array
from toolevals.runs.counts.outcome_patterns import OutcomePatterns, Outcomes
from toolevals.runs.counts.packed_cases import LETTERS, Packed
from toolevals.runs.counts.packing import alike_cases, compared_cases, outcomes_of, packed_cases
from toolevals.runs.counts.place_kinds import PlaceKinds
from toolevals.runs.models import CaseGrade, PackedCases

statuses = st.tuples(*[st.sampled_from(list(LETTERS))] * len(VERDICT_NAMES))
cases = st.builds(lambda cell, said: (*cell, *said), st.sampled_from([("", ""), ("a", "b"), ("é,", NONE)]), statuses)


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), cases))
def test_what_is_packed_comes_out_again(held):
    packed = Packed.of_cases(range(5), 3, [(*key, *case) for key, case in held.items()])
    again = Packed.from_document(packed.to_document(), packed.to_bytes(), 3)
    assert again == packed
    assert packed.examples == 5
    for position in range(5):
        for trial in range(3):
            place = position * 3 + trial
            case = held.get((position, trial))
            letters = "u" * len(VERDICT_NAMES) if case is None else "".join(LETTERS[each] for each in case[2:])
            assert packed.letters_of(packed.outcomes[place]) == letters
            assert bool(packed.outcomes[place]) == (case is not None)
            number = packed.places[place]
            assert (packed.cells[number - 1] if number else ("", "")) == (case[:2] if case else ("", ""))


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), cases))
def test_examples_keep_what_their_trials_came_to_in_any_order(held):
    packed = Packed.of_cases(range(5), 3, [(*key, *case) for key, case in held.items()])
    alike = OutcomePatterns.of(packed)
    assert OutcomePatterns.from_document(packed.to_document(), alike.to_bytes(), 3) == alike
    assert alike.examples == 5
    for patterns, numbers in ((alike.outcomes, packed.outcomes), (alike.places, packed.places)):
        assert len(set(patterns.distinct)) == len(patterns.distinct)
        for place, number in enumerate(patterns.numbers):
            assert patterns.distinct[number] == tuple(sorted(numbers[3 * place : 3 * place + 3]))


@given(st.lists(st.lists(st.integers(0, 1 << 40) | st.integers(0, 300), max_size=5), max_size=4), st.text())
def test_columns_of_numbers_come_out_again(columns, said):
    assert numbers_from_bytes(numbers_to_bytes(said, columns)) == (said, list(map(small_array, columns)))
    assert [list(small_array(column)) for column in columns] == columns


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), cases), st.sampled_from([1, 3]))
def test_outcomes_alone_are_those_of_the_examples(held, trials):
    alike = OutcomePatterns.of(Packed.of_cases(range(5), trials, [(*key, *case) for key, case in held.items()]))
    outcomes = Outcomes.of(alike)
    assert Outcomes.from_bytes(outcomes.to_bytes(), trials) == outcomes
    assert list(outcomes.patterns.numbers) == list(alike.outcomes.numbers)
    assert outcomes.patterns.distinct == alike.outcomes.distinct
    numbers = range(len(alike.verdicts) + 1)
    assert [outcomes.letters_of(each) for each in numbers] == [alike.letters_of(each) for each in numbers]


def holding(kinds: PlaceKinds, alike: OutcomePatterns, held: Sequence[Mapping[int, tuple[str, str]]]) -> None:
    """Check kinds against what each example holds: the cell of each trial with a place."""
    wrong: Counter[tuple[str, str, int]] = Counter()
    sums: Counter[tuple[int, int]] = Counter()
    classes: Counter[tuple[str, int, int]] = Counter()
    calls = set()
    assert kinds.names == tuple(sorted({name for cell in alike.cells for name in cell}))
    assert [divmod(cell, len(kinds.names)) for cell in kinds.cells] == [
        tuple(map(kinds.names.index, cell)) for cell in alike.cells
    ]
    assert len(kinds.numbers) == len(held)
    for place, example in enumerate(held):
        cells = list(example.values())
        expected, kind = {cell[0] for cell in cells}, kinds.numbers[place]
        due = kinds.due[kind]
        assert {kinds.names[due - 1]} == expected if due else len(expected) != 1
        assert kinds.right[kind] == sum(expected == called for expected, called in cells)
        assert kinds.placed[kind] == len(cells)
        for cell, many in Counter(cell for cell in cells if due and cell[0] != cell[1]).items():
            calls.add((place, kinds.names.index(cell[1]), many))
            wrong[*cell, len(cells)] += many
            sums[alike.cells.index(cell), len(cells)] += 1
            classes[cell[1], many, len(cells)] += 1
    assert set(kinds.wrong_calls()) == calls
    assert list(kinds.keys()) == sorted(place * len(kinds.names) + called for place, called, _ in calls)
    assert {(place, placed): count for place, placed, _, count in kinds.sums.cells} == sums
    assert {(*alike.cells[place], placed): many for place, placed, many, _ in kinds.sums.cells} == wrong
    assert {(kinds.names[called], *rest): count for called, *rest, count in kinds.sums.classes} == classes


@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), cases),
    st.sampled_from([1, 3]),
    st.lists(st.integers(0, 4), unique=True),
)
def test_kinds_are_those_of_the_places_and_read_back_the_same(held, trials, some):
    alike = OutcomePatterns.of(Packed.of_cases(range(5), trials, [(*key, *case) for key, case in held.items()]))
    kinds = PlaceKinds.of(alike)
    assert PlaceKinds.from_bytes(kinds.to_bytes()) == kinds
    each = [
        {trial: held[position, trial][:2] for trial in range(trials) if held.get((position, trial), ("",))[0]}
        for position in range(5)
    ]
    holding(kinds, alike, each)
    holding(kinds.of_examples(some), alike, [each[place] for place in some])


def test_of_a_part_of_a_version_only_its_examples_are_there():
    row = ("a", "a", *["passed"] * len(VERDICT_NAMES))
    packed = Packed.of_cases([2, 5], 1, [(2, 0, *row), (5, 0, *row), (3, 0, *row)])
    assert list(packed.outcomes) == [1, 1]


@pytest.mark.django_db
def test_a_finished_grading_keeps_its_cases_packed(project, run_jobs):
    run = uploaded_run(project, version_of(project), [call("status", STATUS)])
    run_jobs()
    run.refresh_from_db()
    assert PackedCases.objects.filter(grading=run.grading).count() == 1
    packed = packed_cases(run.grading)
    found = [packed.letters_of(number)[0] for number in packed.outcomes]
    rows = CaseGrade.objects.filter(grading=run.grading).order_by("transcript__entry__position")
    assert found == [LETTERS[outcome] for outcome in rows.values_list("outcome", flat=True)]


@pytest.mark.django_db
def test_a_grading_from_before_is_packed_when_it_is_asked_for(project, run_jobs):
    run = uploaded_run(project, version_of(project), [call("status", STATUS)])
    run_jobs()
    run.refresh_from_db()
    kept = packed_cases(run.grading)
    PackedCases.objects.all().delete()
    again = packed_cases(run.grading)
    assert [again.letters_of(number) for number in again.outcomes] == [kept.letters_of(n) for n in kept.outcomes]
    assert PackedCases.objects.filter(grading=run.grading).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("trials", [1, 2])
def test_examples_of_a_grading_from_before_are_kept_at_the_first_look(project, run_jobs, trials):
    predictions = [call("status", STATUS, trial) for trial in range(trials)]
    run = uploaded_run(project, version_of(project), predictions, trials=trials)
    run_jobs()
    run.refresh_from_db()
    kept = alike_cases(run.grading)
    assert kept == OutcomePatterns.of(packed_cases(run.grading))
    rows = PackedCases.objects.filter(grading=run.grading)
    assert rows.filter(patterns=None).exists() == (trials == 1)
    rows.update(patterns=None)
    assert alike_cases(run.grading) == kept
    assert rows.filter(patterns=None).exists() == (trials == 1)


@pytest.mark.django_db
@pytest.mark.parametrize("trials", [1, 2])
def test_kinds_of_places_are_kept_when_a_grading_ends_or_at_the_first_comparison(project, run_jobs, trials):
    predictions = [call("status", STATUS, trial) for trial in range(trials)]
    run = uploaded_run(project, version_of(project), predictions, trials=trials)
    run_jobs()
    run.refresh_from_db()
    rows = PackedCases.objects.filter(grading=run.grading)
    alike = alike_cases(run.grading)
    anew = Outcomes.of(alike), PlaceKinds.of(alike)
    assert not rows.filter(Q(outcomes=None) | Q(kinds=None)).exists()
    for before in ({}, {"kinds": None}, {"outcomes": None}, {"patterns": None, "outcomes": None, "kinds": None}):
        if before:
            rows.update(**before)
        for _ in range(2):
            (compared,) = compared_cases([run.grading])
            assert (compared.outcomes, compared.kinds) == anew
        assert outcomes_of(run.grading) == anew[0]
        assert not rows.filter(Q(outcomes=None) | Q(kinds=None)).exists()
        assert rows.filter(patterns=None).exists() == (trials == 1)


@pytest.mark.django_db
def test_runs_are_compared_by_what_is_asked_of_them(project, run_jobs, django_assert_num_queries):
    gradings = []
    for _ in range(2):
        run = uploaded_run(
            project, version_of(project), [call("status", STATUS, trial) for trial in range(2)], trials=2
        )
        run_jobs()
        run.refresh_from_db()
        gradings.append(run.grading)
    runs = compared_cases(gradings)
    parts: tuple[Callable[[ComparedRun], Any], ...] = (
        lambda run: run.outcomes,
        lambda run: run.kinds,
        lambda run: run.alike,
    )
    # What a run's page of all examples needs is read of both runs at once.
    for part, queries in zip(parts, (1, 1, 2), strict=True):
        for again in (queries, 0):
            with django_assert_num_queries(again):
                found = [part(run) for run in runs]
        assert found == [part(ComparedRun.of(alike_cases(each))) for each in gradings]
