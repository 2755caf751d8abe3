"""Cases as numbers: nothing is lost, and a finished grading keeps them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.building import STATUS, call, uploaded_run, version_of
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.packed_cases import LETTERS, Packed, packed_cases, packed_cases_of
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


@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), cases), st.sampled_from([1, 3]))
def test_examples_are_alike_whose_trials_came_to_the_same_in_any_order(held, trials):
    packed = Packed.of_cases(range(5), trials, [(*key, *case) for key, case in held.items()])
    for patterns, numbers in ((packed.outcome_patterns, packed.outcomes), (packed.place_patterns, packed.places)):
        assert len(set(patterns.distinct)) == len(patterns.distinct)
        assert len(patterns.numbers) == 5
        for place, number in enumerate(patterns.numbers):
            assert patterns.distinct[number] == tuple(sorted(numbers[trials * place : trials * (place + 1)]))


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
def _letters(packed: Packed) -> list[str]:
    return list(map(packed.letters_of, packed.outcomes))


def test_several_gradings_are_read_at_once(project, run_jobs, django_assert_num_queries):
    gradings = []
    for _ in range(2):
        run = uploaded_run(
            project, version_of(project), [call("status", STATUS, trial) for trial in range(2)], trials=2
        )
        run_jobs()
        run.refresh_from_db()
        gradings.append(run.grading)
    kept = list(map(packed_cases, gradings))
    with django_assert_num_queries(1):
        assert list(packed_cases_of(gradings)) == kept
    PackedCases.objects.filter(grading=gradings[1]).delete()
    # The numbers follow the order in which the database gives the rows; what they stand for is the same.
    assert list(map(_letters, packed_cases_of(gradings))) == list(map(_letters, kept))
    assert PackedCases.objects.filter(grading=gradings[1]).exists()
