"""Closes a person's account for a while or for good: see docs/deleting.md and decision 169."""

from __future__ import annotations

from functools import partial

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from toolevals.workspace.accounts.services import person_failures_forget
from toolevals.workspace.audit.services import audit_opened, audit_record
from toolevals.workspace.bulk import write_ahead_log_empty
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.files import KINDS
from toolevals.workspace.models import (
    ApiToken,
    Delivery,
    DeliveryState,
    EventKind,
    Invitation,
    InvitationState,
    Job,
    Membership,
    Mention,
    Project,
    Role,
    Upload,
    User,
)
from toolevals.workspace.people.rows import rows_let_go, texts_rewrite
from toolevals.workspace.projects.services import invitations_by_end, member_set, member_tell, members_lock

# No mail goes to a name below it: RFC 2606 reserves it.
NOWHERE = "deleted.invalid"


class DepartureError(ValueError):
    """A person's account cannot be closed, or opened again, as it is."""


@transaction.atomic
def user_deactivate(*, person: User, actor: User | None) -> None:
    """Close an account for a while: sessions and tokens end at once, what its person holds goes back to the queue.

    Memberships stay. Again changes nothing. Raises `DepartureError` for the last owner of the installation.
    """
    locked = _locked(person)
    if not locked.is_active:
        return
    _close(locked, actor)
    audit_record(project=None, actor=actor, verb="user_deactivate", target=locked)
    person.is_active = False


@transaction.atomic
def user_reactivate(*, person: User, actor: User | None) -> None:
    """Open a deactivated account again; its tokens stay revoked. Raises `DepartureError` where it is deleted."""
    locked = _locked(person)
    if locked.is_active:
        return
    locked.is_active = person.is_active = True
    locked.save(update_fields=["is_active"])
    audit_record(project=None, actor=actor, verb="user_reactivate", target=locked)


def user_delete(*, person: User, actor: User | None, heir: User | None = None) -> str:
    """Delete a person and return the pseudonym under which their labels and decisions stay; nothing brings them back.

    All in one transaction. `heir` becomes an owner of the projects that have no other. Raises `DepartureError`, with
    the projects' names, for the last owner of one, and for the last owner of the installation.
    """
    with audit_opened(person=person):
        locked = _locked(person)
        _hand_over(locked, heir, actor)
        if locked.is_active:
            _close(locked, actor)
        pseudonym = _forget(locked)
        audit_record(project=None, actor=actor, verb="user_delete", target=locked)
    write_ahead_log_empty()
    return pseudonym


def projects_owned_alone(person: User) -> QuerySet[Project]:
    """Return the projects that would be left without an owner who can sign in; those in the trash with them."""
    owners = Membership.objects.filter(project=OuterRef("pk"), role=Role.OWNER)
    others = owners.filter(user__is_active=True).exclude(user=person)
    return Project.with_trash.filter(Exists(owners.filter(user=person)), ~Exists(others)).order_by("name", "pk")


def heirs_of(person: User) -> QuerySet[User]:
    """Return the others who can sign in, the members of the projects that the person owns alone first."""
    member = Membership.objects.filter(user=OuterRef("pk"), project__in=projects_owned_alone(person).order_by())
    others = User.objects.filter(is_active=True).exclude(pk=person.pk)
    return others.order_by(Exists(member).desc(), "name", "pk")


def _locked(person: User) -> User:
    locked = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if locked.former_number is not None:
        raise DepartureError("This person is deleted.")
    return locked


def _close(person: User, actor: User | None) -> None:
    owners = User.objects.filter(is_installation_owner=True, is_active=True)
    if person.is_installation_owner and not owners.exclude(pk=person.pk).exists():
        raise DepartureError(
            f"{person.name} is the last owner of the installation. Add another first: toolevals installation-owners."
        )
    person.is_active = False
    person.save(update_fields=["is_active"])
    sessions_end(person)
    ApiToken.objects.filter(user=person, revoked_at=None).update(revoked_at=database_now())
    waiting = Delivery.objects.filter(user=person, state=DeliveryState.WAITING)
    waiting.update(state=DeliveryState.DROPPED, ended_at=database_now())
    for project in Project.with_trash.filter(memberships__user=person).order_by("pk"):
        members_lock(project)
        invitations_by_end(project, person)
        member_tell(project, person, None, actor)


def sessions_end(person: User) -> None:
    """End every session of a person: sessions say whose they are in their content alone."""
    mine = [each.pk for each in Session.objects.iterator() if each.get_decoded().get(SESSION_KEY) == str(person.pk)]
    Session.objects.filter(pk__in=mine).delete()


def _hand_over(person: User, heir: User | None, actor: User | None) -> None:
    alone = list(projects_owned_alone(person))
    if alone and heir is None:
        names = ", ".join(project.name for project in alone)
        raise DepartureError(f"{person.name} is the last owner of {names}. Name someone who will own them.")
    if heir is not None and (heir.pk == person.pk or not heir.is_active):
        raise DepartureError(f"{heir.name} cannot own the projects: name another person, who can sign in.")
    for project in alone:
        if heir is not None:
            member_set(project=project, actor=actor, user=heir, role=Role.OWNER)


def _forget(person: User) -> str:
    """Take name, address and all that signs in from a locked account; return its pseudonym."""
    before = User.objects.get(pk=person.pk)
    number = (User.objects.aggregate(most=Max("former_number"))["most"] or 0) + 1
    person.former_number = number
    person.name, person.email = f"Former member {number}", f"former-member-{number}@{NOWHERE}"
    person.is_installation_owner, person.is_sample, person.last_login = False, False, None
    person.set_unusable_password()
    person.save()
    person_failures_forget(before.email)
    pending = Invitation.objects.filter(email=before.email, state=InvitationState.PENDING)
    pending.update(state=InvitationState.REVOKED, ended_at=database_now())
    # What webhooks were told of the person's mentions names them in a sentence.
    mentions = Mention.objects.filter(person=person).values("pk")
    Delivery.objects.filter(kind=EventKind.MENTIONED, event__in=mentions).delete()
    rows_let_go(person)
    texts_rewrite(before, person.name, person.email)
    _job_files_delete()
    return person.name


def _job_files_delete() -> None:
    """Delete the files that jobs wrote for someone to fetch: tables of labels name people. They are kept for a day."""
    named = Job.objects.filter(kind__in=KINDS, report__contains="upload").values_list("report", flat=True)
    for upload in Upload.objects.filter(pk__in=[each["upload"] for each in named if each.get("upload")]):
        upload.delete()
        transaction.on_commit(partial(upload.file.delete, save=False))
