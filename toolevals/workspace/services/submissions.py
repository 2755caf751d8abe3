"""Take once what a page's script sends under an id of its own, however often it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction

from toolevals.workspace.models import IdempotencyKey, Project, User

# What was taken; a page gets the next example in answer, never an answer that is kept.
TAKEN = 200


class AlreadyTaken(Exception):  # noqa: N818 - nothing is wrong: the first answer was lost on its way
    """The submission was taken before."""


@contextmanager
def submission_once(*, project: Project, actor: User, submission: str) -> Iterator[None]:
    """Commit what is done within together with the submission's id; without an id, just do it.

    Raises AlreadyTaken, and does nothing, where the id was committed before. What fails within leaves no id behind.
    """
    if not submission:
        yield
        return
    with transaction.atomic():
        _claim(project, actor, submission)
        yield


def submission_is_taken(*, project: Project, actor: User, submission: str) -> bool:
    """Return whether this person's submission was taken."""
    if not submission:
        return False
    return IdempotencyKey.objects.filter(project=project, user=actor, key=_key(submission)).exists()


def _claim(project: Project, actor: User, submission: str) -> None:
    digest = hashlib.sha256(submission.encode()).hexdigest()
    try:
        with transaction.atomic():
            IdempotencyKey.objects.create(
                project=project, user=actor, key=_key(submission), request_digest=digest, status=TAKEN
            )
    except IntegrityError as error:
        raise AlreadyTaken from error


def _key(submission: str) -> str:
    return f"page {submission}"
