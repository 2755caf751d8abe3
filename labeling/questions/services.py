"""Ask and answer questions about an example. A thread is one reviewer's; see `labeling.blindness` for who reads it."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from labeling.blindness import RESOLVED, may_answer
from labeling.errors import InvalidAct
from labeling.expectations.reading import text_required
from labeling.models import Comment, QuestionView, Revision
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.mentions.names import names_bound
from toolevals.workspace.mentions.services import mentions_note
from toolevals.workspace.models import Membership, Role, User

MAX_COMMENT = 4000


@transaction.atomic
def question_open(*, revision: Revision, actor: User) -> bool:
    """Write down that this person opens others' questions about an example that is not resolved; return whether.

    From then on they are not offered the example, and cannot claim it. Opening twice is opening once. False where there
    is nothing that they may read: then they are shown nothing either.
    """
    project = revision.example.dataset.project
    if revision.resolution in RESOLVED or not Comment.objects.filter(revision=revision).exclude(asker=actor).exists():
        return False
    # As claims do: a person who claims the example at this moment is not shown the questions, or comes too late.
    turn = Membership.objects.select_for_update().filter(project=project, user=actor).values_list("role", flat=True)
    role = Role(turn[0]) if turn else Role.VIEWER
    if not may_answer(revision, actor, role):
        return False
    _, is_new = QuestionView.objects.get_or_create(revision=revision, user=actor)
    if is_new:
        detail = {"revision": str(revision.pk)}
        audit_record(project=project, actor=actor, verb="question_open", target=revision, detail=detail)
    return True


@transaction.atomic
def comment_add(*, revision: Revision, asker: User, actor: User, text: str) -> Comment:
    """Add a remark to the thread between `asker` and the adjudicators, and return it.

    The asker begins the thread; adjudicators answer who have nothing to do with the example's labels, and are not asked
    for one. Members that it mentions are told as far as they may read it. Raises InvalidDocument for an empty text or
    an ambiguous name, InvalidAct where the example is resolved or the thread is none of this person's business.
    """
    said = text_required(text, name="text")[:MAX_COMMENT]
    locked = Revision.objects.select_for_update(of=("self",)).select_related("example__dataset__project")
    revision = locked.get(pk=revision.pk)
    project = revision.example.dataset.project
    if revision.resolution in RESOLVED:
        raise InvalidAct("This example is resolved. If you disagree with the gold, dispute it on the example’s page.")
    if actor.pk != asker.pk:
        _require_answerable(revision, asker, actor, project.pk)
    said, mentioned = names_bound(project, said)
    Comment.objects.filter(revision=revision, asker=asker, is_unanswered=True).update(is_unanswered=False)
    comment = Comment.objects.create(
        revision=revision, asker=asker, author=actor, text=said, is_unanswered=actor.pk == asker.pk
    )
    mentions_note(project=project, actor=actor, people=mentioned, target=comment)
    audit_record(
        project=project, actor=actor, verb="comment_add", target=comment, detail={"revision": str(revision.pk)}
    )
    return comment


def _require_answerable(revision: Revision, asker: User, actor: User, project: Any) -> None:
    """Raise InvalidAct where `actor` may not answer this thread, or there is none."""
    membership = Membership.objects.filter(project=project, user=actor).first()
    if membership is None or not may_answer(revision, actor, Role(membership.role)):
        raise InvalidAct("Only adjudicators who have not labelled or claimed this example can answer.")
    if not Comment.objects.filter(revision=revision, asker=asker).exists():
        raise InvalidAct("There is no such question.")
