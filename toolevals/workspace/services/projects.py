"""Projects and their members."""

from __future__ import annotations

import secrets

from django.db import transaction
from django.utils import timezone

from toolevals.workspace.models import ApiToken, Membership, Project, Role, User
from toolevals.workspace.services.audit import audit_record
from toolevals.workspace.services.users import user_create


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
    """Give a person a role in a project, the first or another one. Raises `LastOwnerError`."""
    _lock(project)
    if role != Role.OWNER:
        _require_another_owner(project, user)
    membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    detail = {"user": str(user.pk), "role": Role(role).label}
    audit_record(project=project, actor=actor, verb="member_set", target=membership, detail=detail)
    return membership


@transaction.atomic
def member_invite(
    *, project: Project, actor: User | None, email: str, name: str, role: Role
) -> tuple[Membership, str | None]:
    """Make the person with this address a member; without an account, one is made.

    Return the membership and, for a new account, its first password, which is kept nowhere else. Raises
    `ValidationError` and `LastOwnerError`.
    """
    user = User.objects.filter(email=email.strip().lower()).first()
    password = None
    if user is None:
        password = secrets.token_urlsafe(12)
        user = user_create(actor=actor, email=email, name=name, password=password)
    return member_set(project=project, actor=actor, user=user, role=role), password


@transaction.atomic
def member_remove(*, membership: Membership, actor: User | None) -> None:
    """End a membership and the tokens that stand for it. What the person did stays. Raises `LastOwnerError`."""
    project, user = membership.project, membership.user
    _lock(project)
    _require_another_owner(project, user)
    ApiToken.objects.filter(project=project, user=user, revoked_at=None).update(revoked_at=timezone.now())
    audit_record(project=project, actor=actor, verb="member_remove", target=membership, detail={"user": str(user.pk)})
    membership.delete()


def _lock(project: Project) -> None:
    """Let changes of one project's members wait for each other, or two owners could remove each other."""
    Project.objects.select_for_update().get(pk=project.pk)


def _require_another_owner(project: Project, user: User) -> None:
    owners = set(project.memberships.filter(role=Role.OWNER).values_list("user_id", flat=True))
    if owners == {user.pk}:
        raise LastOwnerError(f"{user.name} is the last owner. Make someone else an owner first.")
