"""Asking and answering about an example. A thread is one reviewer's; see `labeling.blindness` for who reads it."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from labeling.blindness import RESOLVED, may_answer
from labeling.errors import InvalidAct
from labeling.models import Comment, Revision
from labeling.services.expectations import text_required
from toolevals.workspace.models import Membership, Role, User
from toolevals.workspace.services import audit_record

MAX_COMMENT = 4000


@transaction.atomic
def comment_add(*, revision: Revision, asker: User, actor: User, text: str) -> Comment:
    """Add a remark to the thread between `asker` and the adjudicators, and return it.

    The asker begins the thread; adjudicators who have nothing to do with the example's labels answer, and are not
    offered it from then on. Raises InvalidDocument for an empty text, InvalidAct where the example is resolved or
    the thread is none of this person's business.
    """
    said = text_required(text, name="text")[:MAX_COMMENT]
    locked = Revision.objects.select_for_update(of=("self",)).select_related("example__dataset__project")
    revision = locked.get(pk=revision.pk)
    project = revision.example.dataset.project
    if revision.resolution in RESOLVED:
        raise InvalidAct("This example is resolved. Who disagrees with its gold disputes it on the example’s page.")
    if actor.pk != asker.pk:
        _require_answerable(revision, asker, actor, project.pk)
    comment = Comment.objects.create(revision=revision, asker=asker, author=actor, text=said)
    audit_record(
        project=project, actor=actor, verb="comment_add", target=comment, detail={"revision": str(revision.pk)}
    )
    return comment


def _require_answerable(revision: Revision, asker: User, actor: User, project: Any) -> None:
    """Raise InvalidAct where `actor` may not answer this thread, or there is none."""
    membership = Membership.objects.filter(project=project, user=actor).first()
    if membership is None or not may_answer(revision, actor, Role(membership.role)):
        raise InvalidAct("Adjudicators answer who have not labelled the example and hold no claim on it.")
    if not Comment.objects.filter(revision=revision, asker=asker).exists():
        raise InvalidAct("Nobody has asked that.")
