"""Test what waits is counted from what waits, not from all examples; and the counts name the rows that pages list."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from labeling.adjudicate.services import adjudication_decide, dispute_open
from labeling.label import open_tasks as waiting
from labeling.label.open_tasks import counted
from labeling.models import Comment, Revision
from labeling.questions.services import comment_add
from tests.labeling.rows import NO_CALL, call
from toolevals.workspace.models import Project, Role, User

pytestmark = pytest.mark.django_db


def parts(project: Project, user: User) -> list[set[UUID]]:
    """Return the two parts that are counted, and what is listed."""
    own = (Revision.objects.differing_for(project, user), Revision.objects.disputed_for(project, user))
    return [*({row.pk for row in each} for each in own), {r.pk for r in Revision.objects.to_adjudicate(project, user)}]


@pytest.mark.parametrize("decide_own", [False, True])
def test_the_parts_are_what_is_listed(project, examples, ann, ben, members, adjudicator, submit, decide_own):
    first, second = members(2, Role.ADJUDICATOR)
    project.decide_own = decide_own
    project.save()
    for person, answer in ((ann, call()), (ben, NO_CALL)):
        submit(person, answer)
    differing = {examples[0].pk}
    assert parts(project, adjudicator) == [differing, set(), differing]
    labelled = parts(project, ann)
    assert labelled == ([differing, set(), differing] if decide_own else [set(), set(), set()])
    _decide(examples[0], adjudicator)
    dispute_open(revision=examples[0], actor=first, reason="It is another order")
    assert parts(project, second) == [set(), differing, differing]
    assert parts(project, first) == [set(), set(), set()]
    assert counted(project, second, Role.ADJUDICATOR)["to_adjudicate"] == 1


def test_a_superseded_revision_and_another_project_wait_for_nobody(project, examples, ann, ben, adjudicator, submit):
    for person, answer in ((ann, call()), (ben, NO_CALL)):
        submit(person, answer)
    assert parts(project, adjudicator)[0]
    dataset = examples[0].example.dataset
    type(dataset).objects.filter(pk=dataset.pk).update(deleted_at=F("created_at"))
    assert parts(project, adjudicator) == [set(), set(), set()]
    type(dataset).objects.filter(pk=dataset.pk).update(deleted_at=None)
    type(examples[0].example).objects.filter(pk=examples[0].example_id).update(current=None)
    assert parts(project, adjudicator) == [set(), set(), set()]


@pytest.fixture
def few(monkeypatch):
    """Let one example be many, and two far more."""
    monkeypatch.setattr(waiting, "MANY", 1)
    monkeypatch.setattr(waiting, "FAR_MORE", 2)


def _differ(submit, people, times: int) -> None:
    for _ in range(times):
        for person, answer in zip(people, (call(), NO_CALL), strict=True):
            submit(person, answer)


def test_far_more_than_is_shown_is_not_counted_again(project, examples, ann, ben, adjudicator, submit, few):
    _differ(submit, (ann, ben), 2)
    for expected in (True, False):
        with CaptureQueriesContext(connection) as asked:
            assert counted(project, adjudicator, Role.ADJUDICATOR)["to_adjudicate"] == 1
        assert any("disagreed" in each["sql"] for each in asked) is expected
    project.decide_own = True
    with CaptureQueriesContext(connection) as asked:
        counted(project, adjudicator, Role.ADJUDICATOR)
    assert any("disagreed" in each["sql"] for each in asked)


def test_a_number_that_may_change_is_counted_each_time(project, examples, ann, ben, adjudicator, submit, few):
    _differ(submit, (ann, ben), 1)
    assert counted(project, adjudicator, Role.ADJUDICATOR)["to_adjudicate"] == 1
    _decide(examples[0], adjudicator)
    assert counted(project, adjudicator, Role.ADJUDICATOR)["to_adjudicate"] == 0


def test_only_the_newest_of_a_thread_is_unanswered(examples, ann, ben, adjudicator):
    def marked() -> list[str]:
        return list(Comment.objects.filter(is_unanswered=True).values_list("text", flat=True))

    for asker, actor, text in ((ann, ann, "a"), (ann, ann, "b"), (ben, ben, "c"), (ann, adjudicator, "d")):
        comment_add(revision=examples[0], asker=asker, actor=actor, text=text)
    assert marked() == ["c"]
    comment_add(revision=examples[0], asker=ann, actor=ann, text="e")
    assert marked() == ["c", "e"]


def test_no_plan_begins_with_the_examples(project, examples, adjudicator):
    comments = Comment.objects.in_project(project)
    for rows, begins in (
        (comments.unanswered_for(adjudicator, Role.ADJUDICATOR), "labeling_comment USING INDEX comment_unanswered"),
        (comments.answered_to(adjudicator), "labeling_comment USING INDEX comment_asker"),
        (Revision.objects.differing_for(project, adjudicator), "COVERING INDEX revision_resolution (resolution=?)"),
        (Revision.objects.disputed_for(project, adjudicator), "revision_resolution (resolution=? AND id=?)"),
    ):
        plan = rows.order_by().values("pk").explain()
        assert begins in plan.splitlines()[0], plan
        assert "example_dataset" not in plan, plan


def _decide(revision: Revision, person: User) -> None:
    adjudication_decide(revision=revision, actor=person, expectation=call(), rationale="So.")
