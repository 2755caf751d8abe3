"""Finds the token to which the secret in a request's header belongs."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken
from toolevals.workspace.services.tokens import token_digest

SCHEME = "bearer"
USE_NOTED_EVERY = timedelta(minutes=1)


class UnknownToken(Exception):  # noqa: N818 - an answer, not a defect
    """The header names no token that is in force. One sentence for every reason: it tells a guesser nothing."""

    def __init__(self) -> None:
        super().__init__("The token is unknown, expired or revoked.")


def bearer_token(header: str) -> str:
    """Return the secret in an `Authorization` header. Raises `UnknownToken`."""
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != SCHEME or not secret.strip():
        raise UnknownToken
    return secret.strip()


def token_find(secret: str) -> ApiToken:
    """Return the token in force that has this secret, and note its use, once a minute at most.

    Raises `UnknownToken`.
    """
    now = database_now()
    in_force = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now)) & Q(user__is_active=True)
    found = ApiToken.objects.filter(in_force, digest=token_digest(secret))
    token = found.select_related("user", "project").first()
    if token is None:
        raise UnknownToken
    if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
