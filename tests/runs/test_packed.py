"""Cases as numbers: nothing is lost, and a finished grading keeps them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.building import STATUS, call, uploaded_run, version_of
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.counts.outcome_patterns import OutcomePatterns
from toolevals.runs.counts.packed_cases import LETTERS, Packed
from toolevals.runs.counts.place_kinds import PlaceKinds
from toolevals.runs.models import CaseGrade, PackedCases
from toolevals.runs.services.packing import alike_cases, compared_cases, packed_cases

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


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), cases), st.sampled_from([1, 3]))
def test_kinds_are_those_of_the_places_and_read_back_the_same(held, trials):
    alike = OutcomePatterns.of(Packed.of_cases(range(5), trials, [(*key, *case) for key, case in held.items()]))
    kinds = PlaceKinds.worked_out(alike)
    assert PlaceKinds.of(replace(alike, kinds=kinds.to_bytes())) == kinds == PlaceKinds.of(alike)
    wrong: Counter[tuple[int, int, int]] = Counter()
    for position in range(5):
        places = [held[position, trial][:2] for trial in range(trials) if (position, trial) in held]
        cells = [cell for cell in places if cell[0]]
        expected = {cell[0] for cell in cells}
        kind = kinds.numbers[position]
        due = kinds.due[kind]
        assert {alike.cells[due - 1][0]} == expected if due else len(expected) != 1
        assert kinds.right[kind] == sum(expected == called for expected, called in cells)
        assert kinds.placed[kind] == len(cells)
        assert bool(kinds.signs[position]) == any(expected != called for expected, called in cells)
        for cell, many in Counter(cell for cell in cells if cell[0] != cell[1]).items():
            wrong[alike.cells.index(cell) + 1, many, len(cells)] += 1
    assert kinds.wrong == wrong


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
    anew = PlaceKinds.worked_out(alike_cases(run.grading))
    assert rows.filter(kinds=None).exists() == (trials == 1)
    for before in ({}, {"kinds": None}, {"patterns": None, "kinds": None}):
        if before:
            rows.update(**before)
        # The patterns are kept at the first look, the kinds at the next one.
        for _ in range(2):
            assert PlaceKinds.of(compared_cases(run.grading)) == anew
        assert rows.filter(kinds=None).exists() == (trials == 1)
