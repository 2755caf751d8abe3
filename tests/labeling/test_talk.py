"""Asking about an example: who reads which thread, who answers, and what waits for whom."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labeling.errors import InvalidAct
from labeling.models import Comment, Label, LabelSlot, Revision
from labeling.services import comment_add, label_submit
from tests.labeling.rows import NO_CALL
from toolevals.grading.problems import InvalidDocument
from toolevals.workspace.models import AuditEntry, Project, Role, User

pytestmark = pytest.mark.django_db
Submit = Callable[..., Label]


@pytest.fixture
def revision(examples: list[Revision]) -> Revision:
    """An example that nobody has labelled."""
    return examples[0]


@pytest.fixture
def asked(revision: Revision, ann: User) -> Comment:
    """Ann asks about it."""
    return comment_add(revision=revision, asker=ann, actor=ann, text=" Which Thursday? ")


def texts(user: User, role: Role) -> list[str]:
    return list(Comment.objects.readable_by(user, role).values_list("text", flat=True))


def test_a_question_is_kept_with_one_audit_row(asked: Comment, ann: User):
    assert (asked.text, asked.author, asked.asker) == ("Which Thursday?", ann, ann)
    (row,) = AuditEntry.objects.filter(verb="comment_add")
    assert "Thursday" not in str(row.detail)


def test_an_empty_question_is_refused(revision: Revision, ann: User):
    with pytest.raises(InvalidDocument):
        comment_add(revision=revision, asker=ann, actor=ann, text="  ")


def test_only_those_read_it_who_ask_or_may_answer(asked: Comment, ann: User, ben: User, adjudicator: User, owner: User):
    assert texts(ann, Role.REVIEWER) == ["Which Thursday?"]
    assert texts(ben, Role.REVIEWER) == []
    assert texts(ben, Role.VIEWER) == []
    assert texts(adjudicator, Role.ADJUDICATOR) == ["Which Thursday?"]
    assert texts(owner, Role.OWNER) == ["Which Thursday?"]


@pytest.mark.parametrize("role", [Role.ADJUDICATOR, Role.OWNER])
def test_who_has_labelled_neither_reads_nor_answers(
    asked: Comment, revision: Revision, ann: User, members: Callable[..., list[User]], submit: Submit, role: Role
):
    (chief,) = members(1, role)
    submit(chief, NO_CALL)
    assert revision.labels.filter(reviewer=chief).exists()
    assert texts(chief, role) == []
    with pytest.raises(InvalidAct, match="have not labelled"):
        comment_add(revision=revision, asker=ann, actor=chief, text="The next one.")


def test_who_holds_a_claim_neither_reads_nor_answers(
    asked: Comment, revision: Revision, ann: User, adjudicator: User, claim: Callable[[User], LabelSlot | None]
):
    slot = claim(adjudicator)
    assert slot is not None
    assert slot.revision_id == revision.pk
    assert texts(adjudicator, Role.ADJUDICATOR) == []
    with pytest.raises(InvalidAct, match="hold no claim"):
        comment_add(revision=revision, asker=ann, actor=adjudicator, text="The next one.")


def test_reviewers_do_not_answer(asked: Comment, revision: Revision, ann: User, ben: User):
    with pytest.raises(InvalidAct, match="Adjudicators"):
        comment_add(revision=revision, asker=ann, actor=ben, text="I think so too.")


def test_nobody_answers_what_nobody_asked(revision: Revision, ann: User, adjudicator: User):
    with pytest.raises(InvalidAct, match="Nobody has asked"):
        comment_add(revision=revision, asker=ann, actor=adjudicator, text="By the way")


def test_what_waits_for_an_answer_and_what_is_answered(
    asked: Comment, revision: Revision, ann: User, adjudicator: User
):
    waiting = Comment.objects.unanswered_for(adjudicator, Role.ADJUDICATOR)
    answered = Comment.objects.answered_to(ann)
    assert (waiting.count(), answered.count()) == (1, 0)
    comment_add(revision=revision, asker=ann, actor=adjudicator, text="The next one.")
    assert (waiting.count(), answered.count()) == (0, 1)
    comment_add(revision=revision, asker=ann, actor=ann, text="And if that is a holiday?")
    assert (waiting.count(), answered.count()) == (1, 0)


def test_an_answer_is_done_with_once_its_asker_has_labelled(
    asked: Comment, revision: Revision, ann: User, adjudicator: User, submit: Submit
):
    comment_add(revision=revision, asker=ann, actor=adjudicator, text="The next one.")
    submit(ann, NO_CALL)
    assert not Comment.objects.answered_to(ann).exists()


def test_once_resolved_all_read_it_and_nobody_adds(
    asked: Comment, revision: Revision, ann: User, ben: User, project: Project, submit: Submit
):
    Revision.objects.filter(pk=revision.pk).update(resolution="resolved")
    assert texts(ben, Role.VIEWER) == ["Which Thursday?"]
    with pytest.raises(InvalidAct, match="resolved"):
        comment_add(revision=revision, asker=ann, actor=ann, text="Too late?")


def test_another_round_hides_it_again(asked: Comment, revision: Revision, ann: User, ben: User):
    Revision.objects.filter(pk=revision.pk).update(round=2)
    assert texts(ben, Role.REVIEWER) == []
    assert texts(ann, Role.REVIEWER) == ["Which Thursday?"]


def test_a_question_does_not_touch_the_label(asked: Comment, ann: User, claim: Callable[[User], LabelSlot | None]):
    slot = claim(ann)
    assert slot is not None
    assert label_submit(slot=slot, actor=ann, expectation=NO_CALL).revision_id == asked.revision_id
