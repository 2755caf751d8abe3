"""Answers that are no expectation, and examples that two people pass on."""

from __future__ import annotations

import pytest

from labeling.adjudicate.resolution import revision_evaluate, revision_locked, settle_due
from labeling.adjudicate.services import adjudication_decide, adjudication_set_aside
from labeling.blindness import may_see_resolution, sides_of, skip_reasons_of
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import Feedback, Gold, Label, LabelSlot, Resolution, Revision, Skip, SlotState
from labeling.versions.services import version_freeze
from tests.labeling.rows import NO_CALL, call
from tests.labeling.windows import differing_compared, later
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.models import Role, User


def answer(dataset, user: User, word: str) -> Label:
    slot = slot_claim(dataset_or_project=dataset, actor=user)
    assert slot is not None
    label = label_submit(slot=slot, actor=user, answer=word, rationale="two orders are meant")
    differing_compared(label.revision)
    return label


def passed_on(revision: Revision, *people: User) -> Revision:
    """Let people pass a revision on, as their rows say it."""
    for user in people:
        Skip.objects.create(revision=revision, reviewer=user, reason=f"{user.name} cannot tell")
    return evaluated(revision)


def evaluated(revision: Revision) -> Revision:
    revision_evaluate(revision_locked(revision.pk))
    revision.refresh_from_db()
    return revision


@pytest.mark.parametrize("word", ["ambiguous", "missing_tool"])
def test_equal_answers_set_the_example_aside_once_they_cannot_be_taken_back(dataset, examples, ann, ben, word):
    answer(dataset, ann, word)
    answer(dataset, ben, word)
    revision = examples[0]
    revision.refresh_from_db()
    assert revision.resolution == Resolution.OPEN
    assert settle_due(later()) == 1
    revision.refresh_from_db()
    assert (revision.resolution, revision.set_aside_as, revision.gold) == (Resolution.SET_ASIDE, word, None)
    assert not Gold.objects.exists()
    assert not Feedback.objects.exists()


def test_an_answer_differs_from_an_expectation_and_from_another_answer(dataset, examples, ann, ben, submit):
    answer(dataset, ann, "ambiguous")
    submit(ben, call())
    answer(dataset, ann, "ambiguous")
    answer(dataset, ben, "missing_tool")
    for revision in examples[:2]:
        revision.refresh_from_db()
        assert revision.resolution == Resolution.DISAGREED


def test_an_answer_takes_no_expectation_and_an_expectation_is_needed(dataset, examples, ann):
    slot = slot_claim(dataset_or_project=dataset, actor=ann)
    assert slot is not None
    for wrong in (
        {"answer": "ambiguous", "expectation": call()},
        {"answer": "expectation"},
        {"answer": "bored"},
    ):
        with pytest.raises(InvalidDocument):
            label_submit(slot=slot, actor=ann, **wrong)
    assert not Label.objects.exists()


def test_an_answer_sent_twice_is_stored_once_and_can_become_an_expectation(dataset, examples, ann):
    label = answer(dataset, ann, "ambiguous")
    again = label_submit(slot=label.slot, actor=ann, answer="ambiguous", rationale="two orders are meant")
    assert again == label
    changed = label_submit(slot=label.slot, actor=ann, expectation=call())
    assert list(Label.objects.in_force()) == [changed]


def test_five_labels_agree_only_if_all_do(project, dataset, members, submit):
    from labeling.imports.services import examples_import
    from tests.labeling.rows import row

    project.labels_wanted = 5
    project.save()
    dataset.project = project
    examples_import(dataset=dataset, actor=None, rows=[row("five"), row("four")])
    people = members(5)
    for user in people:
        submit(user, call())
    for place, user in enumerate(people):
        submit(user, call(order="A-2") if place == 3 else call())
    settle_due(later())
    said = dict(Revision.objects.values_list("example__external_id", "resolution"))
    assert said == {"five": Resolution.RESOLVED, "four": Resolution.DISAGREED}


def test_the_adjudicator_sets_aside(project, dataset, examples, ann, ben, adjudicator, submit):
    submit(ann, call())
    submit(ben, NO_CALL)
    with pytest.raises(InvalidDocument):
        adjudication_set_aside(revision=examples[0], actor=adjudicator, answer="expectation", rationale="x")
    made = adjudication_set_aside(revision=examples[0], actor=adjudicator, answer="ambiguous", rationale="Which one?")
    examples[0].refresh_from_db()
    assert (examples[0].resolution, examples[0].set_aside_as) == (Resolution.SET_ASIDE, "ambiguous")
    assert (made.answer, made.expectation, made.rationale) == ("ambiguous", None, "Which one?")
    assert adjudication_set_aside(
        revision=examples[0], actor=adjudicator, answer="ambiguous", rationale="Which one?"
    ) == (made)
    assert not Revision.objects.to_adjudicate(project, adjudicator).exists()
    assert {row.differs for row in Feedback.objects.all()} == {True}


def test_what_is_set_aside_is_in_no_version(dataset, examples, ann, ben, submit):
    answer(dataset, ann, "ambiguous")
    answer(dataset, ben, "ambiguous")
    submit(ann, call())
    submit(ben, call())
    settle_due(later())
    assert [one.revision for one in version_freeze(dataset=dataset, actor=None).entries.all()] == [examples[1]]


def test_two_skips_retire_an_example_to_the_adjudicators(project, examples, ann, ben, adjudicator):
    revision = passed_on(examples[0], ann)
    assert revision.resolution == Resolution.OPEN
    passed_on(revision, ben)
    assert revision.resolution == Resolution.PASSED_ON
    assert set(revision.slots.values_list("state", flat=True)) == {SlotState.CLOSED}
    assert list(Revision.objects.to_adjudicate(project, adjudicator)) == [revision]
    assert skip_reasons_of(revision, adjudicator, Role.ADJUDICATOR) == sorted(
        f"{user.name} cannot tell" for user in (ann, ben)
    )
    assert skip_reasons_of(revision, ann, Role.REVIEWER) == []
    assert may_see_resolution(revision, ann, Role.REVIEWER) == Resolution.OPEN
    gold = adjudication_decide(revision=revision, actor=adjudicator, expectation=call(), rationale="It is A-1.")
    revision.refresh_from_db()
    assert (revision.resolution, revision.gold) == (Resolution.RESOLVED, gold)


def test_undoing_one_of_two_skips_returns_the_example_to_the_queue(project, dataset, examples, ann, ben, members):
    (carl,) = members(1)
    revision = passed_on(examples[0], ann, ben)
    Skip.objects.filter(reviewer=ben).update(undone_at=later())
    assert evaluated(revision).resolution == Resolution.OPEN
    slot = slot_claim(dataset_or_project=dataset, actor=carl)
    assert slot is not None
    assert slot.revision == revision


def test_skips_do_not_retire_what_has_all_its_labels(dataset, examples, ann, ben, members, submit):
    submit(ann, call())
    submit(ben, NO_CALL)
    assert passed_on(examples[0], *members(2)).resolution == Resolution.DISAGREED


def test_a_label_beside_two_skips_is_shown_to_the_adjudicator(examples, ann, adjudicator, members, submit):
    submit(ann, call(), rationale="as I read it")
    revision = passed_on(examples[0], *members(2))
    assert revision.resolution == Resolution.PASSED_ON
    assert [side.rationale for side in sides_of(revision, adjudicator, Role.ADJUDICATOR)] == ["as I read it"]
    assert LabelSlot.objects.filter(revision=revision, state=SlotState.CLOSED).count() == 1
