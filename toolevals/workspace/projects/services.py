"""Makes projects, and changes them and their members."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, InvitationState, Membership, Project, Role, User


class LastOwnerError(ValueError):
    """A project must keep an owner."""


@transaction.atomic
def project_create(*, actor: User | None, slug: str, name: str) -> Project:
    """Make a project; who makes it owns it. The system's projects begin without members.

    Raises `ValidationError` for a malformed or taken slug.
    """
    project = Project(slug=slug, name=name.strip())
    project.full_clean()
    project.save()
    if actor is not None:
        Membership.objects.create(project=project, user=actor, role=Role.OWNER)
    audit_record(project=project, actor=actor, verb="project_create", target=project, detail={"slug": slug})
    return project


@transaction.atomic
def project_update(*, project: Project, actor: User | None, name: str) -> Project:
    """Change a project's name. Raises `ValidationError`."""
    project.name = name.strip()
    project.full_clean()
    project.save(update_fields=["name"])
    audit_record(project=project, actor=actor, verb="project_update", target=project, detail={"name": project.name})
    return project


@transaction.atomic
def member_set(*, project: Project, actor: User | None, user: User, role: Role) -> Membership:
    """Give a person a role in a project, the first or another one; what they hold and may no longer is given back.

    Who is no owner any more has invited no one: their pending invitations end. Raises `LastOwnerError`.
    """
    members_lock(project)
    if role != Role.OWNER:
        _require_another_owner(project, user)
    membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    if role != Role.OWNER:
        invitations_by_end(project, user)
    detail = {"user": str(user.pk), "role": Role(role).label}
    audit_record(project=project, actor=actor, verb="member_set", target=membership, detail=detail)
    member_tell(project, user, role, actor)
    return membership


@transaction.atomic
def member_remove(*, membership: Membership, actor: User | None) -> None:
    """End a membership, with the tokens that stand for it and the pending invitations that the person made.

    What they hold is given back, and what they did stays. Raises `LastOwnerError`.
    """
    project, user = membership.project, membership.user
    members_lock(project)
    _require_another_owner(project, user)
    ApiToken.objects.filter(project=project, user=user, revoked_at=None).update(revoked_at=database_now())
    invitations_by_end(project, user)
    audit_record(project=project, actor=actor, verb="member_remove", target=membership, detail={"user": str(user.pk)})
    membership.delete()
    member_tell(project, user, None, actor)


def member_tell(project: Project, user: User, role: Role | None, actor: User | None) -> None:
    """Tell the higher rooms of a member's new role, None where they left, in the same transaction.

    The settings list functions of theirs, `MEMBER_CHANGED`. By then the membership's row is locked, or gone.
    """
    for path in settings.MEMBER_CHANGED:
        import_string(path)(project=project, user=user, role=role, actor=actor)


def members_lock(project: Project) -> None:
    """Let changes of one project's members and invitations wait for each other, or two owners could remove each other.

    Without the key: who writes a row of the project meanwhile, and has a membership's row locked, does not wait.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def invitations_by_end(project: Project, user: User) -> None:
    """End the pending invitations that a person has made."""
    made = project.invitations.unanswered().filter(actor=user)
    made.update(state=InvitationState.REVOKED, ended_at=database_now())


def _require_another_owner(project: Project, user: User) -> None:
    owners = project.memberships.filter(role=Role.OWNER)
    others = owners.filter(user__is_active=True).exclude(user=user)
    if owners.filter(user=user).exists() and not others.exists():
        raise LastOwnerError(f"{user.name} is the last owner. Make someone else an owner first.")
