"""Asking about an example: who reads which thread, who answers, and what waits for whom."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from labeling.errors import InvalidAct
from labeling.label.claims import skip_undo, slot_skip
from labeling.label.services import label_submit
from labeling.models import Comment, Label, LabelSlot, QuestionView, Revision
from labeling.questions.services import comment_add, question_open
from tests.labeling.rows import NO_CALL
from toolevals.grading.values.problems import InvalidDocument
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
    with pytest.raises(InvalidAct, match="have not labelled or claimed"):
        comment_add(revision=revision, asker=ann, actor=adjudicator, text="The next one.")


def test_reviewers_do_not_answer(asked: Comment, revision: Revision, ann: User, ben: User):
    with pytest.raises(InvalidAct, match="Only adjudicators"):
        comment_add(revision=revision, asker=ann, actor=ben, text="I think so too.")


def test_nobody_answers_what_nobody_asked(revision: Revision, ann: User, adjudicator: User):
    with pytest.raises(InvalidAct, match="There is no such question"):
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


def test_who_opens_a_question_is_not_asked_to_label(
    asked: Comment, revision: Revision, ann: User, adjudicator: User, claim: Callable[[User], LabelSlot | None]
):
    client = Client()
    client.force_login(adjudicator)
    listed = client.get(reverse("labeling:questions", args=["shop"])).content.decode()
    assert revision.example.external_id in listed
    assert "Thursday" not in listed
    address = reverse("labeling:thread", args=["shop", revision.pk])
    for _ in range(2):
        assert "Which Thursday?" in client.get(address).content.decode()
    assert QuestionView.objects.get().user == adjudicator
    assert AuditEntry.objects.filter(verb="question_open").count() == 1
    offered = claim(adjudicator)
    assert offered is not None
    assert offered.revision_id != revision.pk
    # A place of its own by a direct link, or by its id.
    slot = revision.slots.order_by("number")[0]
    page = client.get(reverse("labeling:label-slot", args=["shop", slot.pk]))
    assert (page.status_code, "You have read a question" in page.content.decode()) == (403, True)
    for path, body in (("", None), ("label/", {"expectation": NO_CALL})):
        answer = client.post(f"/api/v1/projects/shop/claims/{slot.pk}/{path}", body, content_type="application/json")
        assert (answer.status_code, "You have read a question" in answer.content.decode()) == (409, True)
    assert not Label.objects.exists()
    # Its author goes on.
    assert client.get(address).status_code == 200
    own = claim(ann)
    assert own is not None
    assert own.revision_id == revision.pk


def test_who_passed_an_example_on_and_opens_a_question_does_not_take_it_up_again(
    asked: Comment, revision: Revision, adjudicator: User, claim: Callable[[User], LabelSlot | None]
):
    slot = claim(adjudicator)
    assert slot is not None
    skip = slot_skip(slot=slot, actor=adjudicator)
    assert question_open(revision=revision, actor=adjudicator)
    with pytest.raises(InvalidAct, match="read a question"):
        skip_undo(skip=skip, actor=adjudicator)


def test_own_questions_and_those_one_may_not_read_are_no_views(
    asked: Comment, revision: Revision, ann: User, ben: User, adjudicator: User, submit: Submit
):
    for user in (ann, ben):
        assert not question_open(revision=revision, actor=user)
    submit(adjudicator, NO_CALL)
    assert not question_open(revision=revision, actor=adjudicator)
    assert not QuestionView.objects.exists()
