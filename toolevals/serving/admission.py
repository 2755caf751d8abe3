"""Admit large bodies: only from people who are known, or a stranger could fill the disk."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError
from django.http.cookie import parse_cookie
from waitress.utilities import Error

from toolevals.workspace.outages import FULL, outage_of

# A stranger may send as much: more than any form has that needs no account.
LARGE = 1024 * 1024


class SignInFirst(Error):  # type: ignore[misc]  # noqa: N818 - an answer, no exception
    """The sender is not known."""

    code = 401
    reason = "Unauthorized"


class DatabaseAway(Error):  # type: ignore[misc]  # noqa: N818 - an answer, no exception
    """The sender cannot be looked up."""

    code = 503
    reason = "Service Unavailable"


class DiskFull(Error):  # type: ignore[misc]  # noqa: N818 - an answer, no exception
    """There is no room for what is sent."""

    code = FULL.status.value
    reason = FULL.status.phrase

    def __init__(self) -> None:
        super().__init__(f"{FULL.title} {FULL.sentence}")


def refusal(headers: Mapping[str, str]) -> Error | None:
    """Return why a body larger than LARGE may not come, or None. `headers` has names as "CONTENT_TYPE"."""
    try:
        if _has_token(headers.get("AUTHORIZATION", "")) or _has_session(headers.get("COOKIE", "")):
            return None
    except DatabaseError as error:
        if outage_of(error) is FULL:
            return DiskFull()
        return DatabaseAway("The database does not answer. Send it again later.")
    return SignInFirst(f"Only who is signed in, or sends a token, may send more than {LARGE:,} bytes.")


def _has_token(header: str) -> bool:
    from toolevals.workspace.tokens import UnknownToken, bearer_token, token_find

    try:
        token_find(bearer_token(header))
    except UnknownToken:
        return False
    return True


def _has_session(header: str) -> bool:
    key = parse_cookie(header).get(settings.SESSION_COOKIE_NAME)
    return bool(key) and SESSION_KEY in import_module(settings.SESSION_ENGINE).SessionStore(key)
