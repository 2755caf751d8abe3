"""Show who is in a project, and as what."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.admission import may_invite
from toolevals.workspace.compression import shows_secret
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.forms.projects import InvitationForm, RoleForm
from toolevals.workspace.lists import INVITATIONS, MEMBERS, invitation_lines, member_lines
from toolevals.workspace.models import Invitation, Role
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest, invitation_link
from toolevals.workspace.services.invitations import (
    InvitationEndedError,
    invitation_create,
    invitation_renew,
    invitation_revoke,
)
from toolevals.workspace.services.projects import LastOwnerError, member_remove, member_set

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
