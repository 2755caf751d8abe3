"""Take once what a page's script sends under an id of its own, however often it is sent, and acknowledge it.

The id comes back in a header of the answer. A script takes nothing else for success: not a page to sign in, not what a
proxy says in the server's stead.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http import HTTPStatus
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from toolevals.workspace.models import IdempotencyKey, Project, User
from toolevals.workspace.requests import ProjectRequest

# What was taken; a page gets the next example in answer, never an answer that is kept.
TAKEN_STATUS = 200


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
                project=project, user=actor, key=_key(submission), request_digest=digest, status=TAKEN_STATUS
            )
    except IntegrityError as error:
        raise AlreadyTaken from error


def _key(submission: str) -> str:
    return f"page {submission}"


SENT = "X-Submission"
TAKEN = "X-Accepted"
_ID = re.compile(r"[0-9a-f]{32}")

View = Callable[..., HttpResponse]


def submission_of(request: HttpRequest) -> str:
    """Return the id under which a script sends something; "" where there is none."""
    said = request.headers.get(SENT, "")
    return said if _ID.fullmatch(said) else ""


def is_taken(request: ProjectRequest) -> bool:
    """Return whether this very submission was taken before, and only the answer to it was lost."""
    return submission_is_taken(project=request.project, actor=request.user, submission=submission_of(request))


def once(request: ProjectRequest) -> AbstractContextManager[None]:
    """Commit what is done within together with the submission's id. Raises AlreadyTaken where that was committed."""
    return submission_once(project=request.project, actor=request.user, submission=submission_of(request))


def acknowledged(view: View) -> View:
    """Decorate a view that answers 200 to a script only where it has taken what was sent."""

    @functools.wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if request.method == "POST" and response.status_code == HTTPStatus.OK and (sent := submission_of(request)):
            response.headers[TAKEN] = sent
        return response

    return answer
