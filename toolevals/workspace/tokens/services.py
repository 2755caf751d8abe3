"""Makes API tokens, shows them once, revokes them, and finds whom a token stands for."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, Project, Role, TokenScope, User

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


def token_role(token: ApiToken) -> Role | None:
    """Return what a token may do in its project: no more than its person may; None if that is no member any more."""
    member = token.project.memberships.filter(user=token.user).first()
    return Role(min(token.role, member.role)) if member else None


MARK = "te_"
SHOWN = 10


def token_digest(secret: str) -> str:
    """Return the hexadecimal SHA-256 under which a secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()


class TokenTooWideError(ValueError):
    """A token asks for another one that may more than it may itself."""


@transaction.atomic
def token_create(
    *,
    project: Project,
    actor: User | None,
    user: User,
    name: str,
    role: Role,
    scope: TokenScope = TokenScope.PROJECT,
    expires_at: datetime | None = None,
    maker: ApiToken | None = None,
) -> tuple[ApiToken, str]:
    """Make a token that stands for `user` in `project` with at most `role`; return it and its secret.

    With the scope `traces` it sends traces and does nothing else, whatever its role; with `guard` it asks the guard.

    The secret is not kept: this is the one time it can be read. `maker` is the token by which it is asked for: the new
    one may no more than that one. Raises `ValidationError` and `TokenTooWideError`.
    """
    if maker is not None:
        _require_no_more(maker, project, user, role, expires_at)
    secret = MARK + secrets.token_urlsafe(32)
    token = ApiToken(
        project=project,
        user=user,
        name=name.strip(),
        role=role,
        scope=scope,
        digest=token_digest(secret),
        prefix=secret[:SHOWN],
        expires_at=expires_at,
    )
    token.clean_fields(exclude=["last_used_at", "expires_at", "revoked_at"])
    token.save()
    detail = {"name": token.name, "role": Role(role).label}
    if token.does_one_thing:
        detail["scope"] = str(token.scope)
    audit_record(project=project, actor=actor, verb="token_create", target=token, detail=detail)
    return token, secret


@transaction.atomic
def token_revoke(*, token: ApiToken, actor: User | None) -> None:
    """End a token for good. Revoking it again changes nothing."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=database_now()):
        audit_record(project=token.project, actor=actor, verb="token_revoke", target=token, detail={"name": token.name})
    token.refresh_from_db()


def _require_no_more(maker: ApiToken, project: Project, user: User, role: Role, expires_at: datetime | None) -> None:
    if (maker.project_id, maker.user_id) != (project.pk, user.pk):
        raise TokenTooWideError("A token can only create tokens for its own project and user.")
    if role > maker.role:
        raise TokenTooWideError(f"This token makes tokens with the role {Role(maker.role).label} at most.")
    if maker.expires_at is not None and (expires_at is None or expires_at > maker.expires_at):
        raise TokenTooWideError(f"This token makes tokens that end by {maker.expires_at.isoformat()}, as it does.")
