"""Shows who is in a project and as what, invites people, and shows an invitation to the person who is invited.

The link's page sends `Referrer-Policy: no-referrer`, because its address is a secret. Browsers then send `Origin: null`
with its form, which looks like a form from elsewhere: so the check of forgery is off there. Nothing is lost: only
someone who has the link can send the form, and no one is signed in by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.presentation.csv import Cell
from toolevals.workspace.access import may_invite
from toolevals.workspace.accounts.forms import NewAccountForm
from toolevals.workspace.accounts.hashing import RETRY_SECONDS, PasswordsBusy
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import (
    Invitation,
    InvitationState,
    Membership,
    Role,
    User,
    untrashed,
)
from toolevals.workspace.paging import rows_of
from toolevals.workspace.people.services import (
    ENDED,
    AccountExistsError,
    InvitationEndedError,
    invitation_accept,
    invitation_accept_as_new,
    invitation_create,
    invitation_decline,
    invitation_renew,
    invitation_revoke,
    link_digest,
)
from toolevals.workspace.projects.services import LastOwnerError, member_remove, member_set
from toolevals.workspace.requests import ProjectRequest, SignedInRequest, invitation_link


class RoleForm(PlainForm):
    """A member's role."""

    role = forms.TypedChoiceField(choices=Role.choices, coerce=lambda value: Role(int(value)))


class InvitationForm(RoleForm):
    """Whom to invite, as what."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    field_order = ("email", "role")


INVITATIONS: Final = (
    "invitation_id",
    "email",
    "role",
    "state",
    "invited_by_id",
    "invited_by",
    "created_at",
    "expires_at",
)


MEMBERS: Final = ("member_id", "user_id", "name", "email", "role", "created_at")


def invitation_lines(invitations: Iterable[Invitation]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each invitation that was read with who made it; of its link, nothing."""
    for each in invitations:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        state = "expired" if each.is_expired else each.state
        yield each.pk, each.email, each.get_role_display(), state, *who, each.created_at, each.expires_at


def member_lines(members: Iterable[Membership]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each membership that was read with its person."""
    for each in members:
        yield each.pk, each.user.pk, each.user.name, each.user.email, each.get_role_display(), each.created_at


FIRST = {"role": Role.REVIEWER}


@require_http_methods(["GET", "POST"])
def members(request: ProjectRequest) -> HttpResponse:
    """List the members; by POST, invite one more. The link is shown in the answer, and nowhere else."""
    form = InvitationForm(request.POST or None, initial=FIRST)
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = invitation_create(project=request.project, actor=request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _page(request, InvitationForm(initial=FIRST), made, secret)
    return _page(request, form)


@require_safe
def members_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the members, the newest first."""
    return csv_file("members", MEMBERS, member_lines(rows_of(request.project.memberships.select_related("user"))))


@require_POST
def member_role(request: ProjectRequest, member: UUID) -> HttpResponse:
    """Change a member's role."""
    membership = get_object_or_404(request.project.memberships.select_related("user"), pk=member)
    form = RoleForm(request.POST)
    if form.is_valid():
        role = form.cleaned_data["role"]
        try:
            member_set(project=request.project, actor=request.user, user=membership.user, role=role)
        except LastOwnerError as error:
            messages.error(request, str(error))
    return redirect("workspace:members", request.project.slug)


@require_POST
def remove(request: ProjectRequest, member: UUID) -> HttpResponse:
    """End a membership."""
    membership = get_object_or_404(request.project.memberships.select_related("user", "project"), pk=member)
    try:
        member_remove(membership=membership, actor=request.user)
    except LastOwnerError as error:
        messages.error(request, str(error))
    if membership.user == request.user:
        return redirect("workspace:home")
    return redirect("workspace:members", request.project.slug)


@require_safe
def invitations_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the pending invitations, the newest first, without their links."""
    rows = rows_of(request.project.invitations.unanswered().select_related("actor"))
    return csv_file("invitations", INVITATIONS, invitation_lines(rows))


@require_POST
def renew(request: ProjectRequest, invitation: UUID) -> HttpResponse:
    """Make a new link of an invitation, and show it once."""
    try:
        made, secret = invitation_renew(invitation=_invitation(request, invitation), actor=request.user)
    except InvitationEndedError as error:
        messages.error(request, str(error))
        return redirect("workspace:members", request.project.slug)
    return _page(request, InvitationForm(initial=FIRST), made, secret)


@require_POST
def revoke(request: ProjectRequest, invitation: UUID) -> HttpResponse:
    """End an invitation."""
    invitation_revoke(invitation=_invitation(request, invitation), actor=request.user)
    return redirect("workspace:members", request.project.slug)


def _invitation(request: ProjectRequest, pk: UUID) -> Invitation:
    return get_object_or_404(request.project.invitations.select_related("project"), pk=pk)


def _page(
    request: ProjectRequest, form: InvitationForm, made: Invitation | None = None, secret: str = ""
) -> HttpResponse:
    project = request.project
    is_owner = request.role == Role.OWNER
    context = {
        "memberships": project.memberships.select_related("user").order_by("-role", "user__name", "pk"),
        "roles": Role.choices,
        "form": form,
        "may_invite": is_owner and may_invite(request.user),
        "invitations": project.invitations.unanswered().select_related("actor").order_by("-pk") if is_owner else (),
        "made": made,
        "link": invitation_link(request, secret) if secret else "",
    }
    response = render(request, "workspace/members.html", context)
    response["Cache-Control"] = "no-store"
    return shows_secret(response) if secret else response


UNKNOWN = "This invitation link is not valid. Copy the whole link, or ask for a new one."
EXPIRED = "The invitation has expired. Ask for a new link."
REVOKED = "The invitation was revoked, or has a new link by now. Ask the person who invited you."
USED = "The invitation was answered already. If it was you who accepted it, sign in."
OTHER = "This invitation is for another person. Sign out and open the link again."
NO_ACCOUNT = (
    "This link cannot create an account. If you already have one, sign in and accept the invitation on your "
    "projects page. Otherwise ask for a new link."
)
ENDS = {InvitationState.ACCEPTED: USED, InvitationState.DECLINED: USED, InvitationState.REVOKED: REVOKED}


@csrf_exempt
@never_cache
@sensitive_variables("link", "form")
@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "POST"])
def link(request: HttpRequest, link: str) -> HttpResponse:
    """Show what an invitation's link offers; by POST, make an account with a password of one's own, and accept."""
    response = _opened(request, link)
    response["Referrer-Policy"] = "no-referrer"
    return shows_secret(response)


@require_POST
def accept(request: SignedInRequest, offer: UUID) -> HttpResponse:
    """Accept an invitation to one's own address."""
    invitation = _own(request, offer)
    try:
        invitation_accept(invitation=invitation, user=request.user)
    except InvitationEndedError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse('workspace:home')}?all")
    return redirect("workspace:project", invitation.project.slug)


@require_POST
def decline(request: SignedInRequest, offer: UUID) -> HttpResponse:
    """Decline an invitation to one's own address."""
    try:
        invitation_decline(invitation=_own(request, offer), user=request.user)
        messages.info(request, "You have declined the invitation.")
    except InvitationEndedError as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('workspace:home')}?all")


def _own(request: SignedInRequest, pk: UUID) -> Invitation:
    return get_object_or_404(
        Invitation.objects.filter(untrashed("project")).select_related("project"), pk=pk, email=request.user.email
    )


@sensitive_variables("secret", "form")
def _opened(request: HttpRequest, secret: str) -> HttpResponse:
    found = (
        Invitation.objects.select_related("project", "actor")
        .filter(untrashed("project"), digest=link_digest(secret))
        .first()
    )
    if found is None:
        return _refused(request, UNKNOWN, HTTPStatus.NOT_FOUND)
    if found.state in ENDS or found.is_expired:
        return _refused(request, ENDS.get(InvitationState(found.state), EXPIRED), HTTPStatus.GONE)
    if isinstance(request.user, User):
        if request.user.email != found.email:
            return _refused(request, OTHER, HTTPStatus.CONFLICT)
        return redirect(f"{reverse('workspace:home')}?all")
    form = NewAccountForm(found.email, request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _accepted(request, found, form)
    return _invitation_page(request, found, form)


@sensitive_variables("form")
def _accepted(request: HttpRequest, invitation: Invitation, form: NewAccountForm) -> HttpResponse:
    try:
        invitation_accept_as_new(
            invitation=invitation, name=form.cleaned_data["name"], password=form.cleaned_data["password"]
        )
    except InvitationEndedError:
        return _refused(request, ENDED, HTTPStatus.GONE)
    except AccountExistsError:
        return _refused(request, NO_ACCOUNT, HTTPStatus.CONFLICT)
    except ValidationError as error:
        form.add_error(None, error)
        return _invitation_page(request, invitation, form)
    except PasswordsBusy as busy:
        form.add_error(None, str(busy))
        page = _invitation_page(request, invitation, form, HTTPStatus.TOO_MANY_REQUESTS)
        page["Retry-After"] = str(RETRY_SECONDS)
        return page
    messages.info(request, f"Your account is made, and you are a member of {invitation.project.name}. Sign in.")
    return redirect(f"{reverse('account_login')}?next={reverse('workspace:project', args=[invitation.project.slug])}")


def _invitation_page(
    request: HttpRequest, invitation: Invitation, form: NewAccountForm, status: int = 422
) -> HttpResponse:
    context = {"invitation": invitation, "form": form}
    return render(request, "workspace/invitation.html", context, status=status if form.errors else 200)


def _refused(request: HttpRequest, reason: str, status: HTTPStatus) -> HttpResponse:
    return render(request, "workspace/invitation_ended.html", {"reason": reason}, status=status)
