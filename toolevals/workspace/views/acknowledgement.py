"""Acknowledges what a page's script sends: the id under which it was sent comes back in a header of the answer.

A script takes nothing else for success: not a page to sign in, not what a proxy says in the server's stead.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.services.submissions import submission_is_taken, submission_once

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
