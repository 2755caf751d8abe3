"""Makes and shows invitations once; the person accepts or declines them, an owner renews or revokes them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Invitation, InvitationState, Membership, Project, Role, User
from toolevals.workspace.projects.services import member_tell, members_lock

LASTS = timedelta(days=7)
# One sentence for every reason that is no one's business but an owner's.
ENDED = "The invitation is no longer open: it has expired, or was revoked or answered. Ask for a new one."


class InvitationEndedError(ValueError):
    """The invitation is expired, revoked or answered."""


class AccountExistsError(ValueError):
    """The address has an account: its person signs in and answers there."""


def link_digest(secret: str) -> str:
    """Return the hexadecimal SHA-256 under which a link's secret is kept."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


@transaction.atomic
def invitation_create(*, project: Project, actor: User | None, email: str, role: Role) -> tuple[Invitation, str]:
    """Invite an address to a project; return the invitation and its link's secret.

    The secret is not kept: this is the one time it can be read. Where an invitation of the address is pending, it gets
    this role and a new link. Whether the address has an account makes no difference. Raises `ValidationError`.
    """
    members_lock(project)
    address = email.strip().lower()
    if project.memberships.filter(user__email=address).exists():
        raise ValidationError({"email": "A member has this address already. Change the role in the list of members."})
    pending = project.invitations.unanswered().filter(email=address).first()
    if pending is not None:
        return _renewed(pending, actor, role)
    secret, digest = _drawn()
    invitation = Invitation(project=project, actor=actor, email=address, role=role, digest=digest, expires_at=_end())
    invitation.clean_fields(exclude=["actor", "ended_at"])
    invitation.save()
    _record(invitation, actor, "invitation_create")
    return invitation, secret


@transaction.atomic
def invitation_renew(*, invitation: Invitation, actor: User | None) -> tuple[Invitation, str]:
    """Give a pending invitation a new link and seven more days; the old link ends. Raises `InvitationEndedError`."""
    members_lock(invitation.project)
    invitation.refresh_from_db()
    if invitation.state != InvitationState.PENDING:
        raise InvitationEndedError("Only a pending invitation gets a new link. Invite the address again.")
    return _renewed(invitation, actor, Role(invitation.role))


@transaction.atomic
def invitation_revoke(*, invitation: Invitation, actor: User | None) -> None:
    """End an invitation that no one has answered. Revoking it again changes nothing."""
    members_lock(invitation.project)
    if _end_as(invitation, InvitationState.REVOKED):
        _record(invitation, actor, "invitation_revoke")


@transaction.atomic
def invitation_decline(*, invitation: Invitation, user: User) -> None:
    """Decline an invitation of one's own. Raises `InvitationEndedError`."""
    members_lock(invitation.project)
    if not _end_as(invitation, InvitationState.DECLINED):
        raise InvitationEndedError(ENDED)
    _record(invitation, user, "invitation_decline")


@transaction.atomic
def invitation_accept(*, invitation: Invitation, user: User) -> Membership:
    """Make the person a member as the invitation says; who is one already keeps their role.

    The caller has proved that the invitation is for this person. Raises `InvitationEndedError`.
    """
    members_lock(invitation.project)
    if not _end_as(invitation, InvitationState.ACCEPTED, in_time=True):
        raise InvitationEndedError(ENDED)
    membership, is_new = Membership.objects.get_or_create(
        project=invitation.project, user=user, defaults={"role": invitation.role}
    )
    if is_new:
        member_tell(invitation.project, user, Role(invitation.role), user)
    _record(invitation, user, "invitation_accept", user=str(user.pk))
    return membership


@transaction.atomic
def invitation_accept_as_new(*, invitation: Invitation, name: str, password: str) -> Membership:
    """Make the account that the invitation's link lets make, with its person's own password, and accept.

    Raises `InvitationEndedError`, `AccountExistsError`, and `ValidationError` for a weak password or an empty name.
    """
    if User.objects.filter(email=invitation.email).exists():
        raise AccountExistsError
    try:
        with transaction.atomic():
            user = user_create(actor=None, email=invitation.email, name=name, password=password)
    except IntegrityError:
        # Another link of the same address was faster.
        raise AccountExistsError from None
    return invitation_accept(invitation=invitation, user=user)


def _renewed(invitation: Invitation, actor: User | None, role: Role) -> tuple[Invitation, str]:
    secret, invitation.digest = _drawn()
    invitation.role, invitation.actor, invitation.expires_at = role, actor, _end()
    invitation.save(update_fields=["digest", "role", "actor", "expires_at"])
    _record(invitation, actor, "invitation_renew")
    return invitation, secret


def _drawn() -> tuple[str, str]:
    secret = secrets.token_urlsafe(32)
    return secret, link_digest(secret)


def _end() -> datetime:
    return database_now() + LASTS


def _end_as(invitation: Invitation, state: InvitationState, *, in_time: bool = False) -> bool:
    """End a pending invitation, by one conditional update: of two who try at once, one is told True."""
    rows = Invitation.objects.in_force() if in_time else Invitation.objects.unanswered()
    ended = rows.filter(pk=invitation.pk).update(state=state, ended_at=database_now())
    invitation.refresh_from_db()
    return bool(ended)


def _record(invitation: Invitation, actor: User | None, verb: str, **more: str) -> None:
    detail = {"email": invitation.email, "role": Role(invitation.role).label, **more}
    audit_record(project=invitation.project, actor=actor, verb=verb, target=invitation, detail=detail)
