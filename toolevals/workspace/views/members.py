"""Who is in a project, and as what."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.forms.projects import MemberForm, RoleForm
from toolevals.workspace.lists import MEMBERS, member_lines
from toolevals.workspace.models import Role
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.services import LastOwnerError, member_invite, member_remove, member_set
from toolevals.workspace.views.files import csv_file


@require_http_methods(["GET", "POST"])
def members(request: ProjectRequest) -> HttpResponse:
    """List the members; by POST, add one. A new account's first password is shown in the answer, and nowhere else."""
    form = MemberForm(request.POST or None, initial={"role": Role.REVIEWER})
    added = password = None
    if request.method == "POST" and form.is_valid():
        added, password = member_invite(project=request.project, actor=request.user, **form.cleaned_data)
        if password is None:
            messages.info(request, f"{added.user.name} is a member now, as {added.get_role_display()}.")
            return redirect("workspace:members", request.project.slug)
        form = MemberForm(initial={"role": Role.REVIEWER})
    context = {
        "memberships": request.project.memberships.select_related("user").order_by("-role", "user__name", "pk"),
        "roles": Role.choices,
        "form": form,
        "added": added,
        "password": password,
    }
    response = render(request, "workspace/members.html", context)
    response["Cache-Control"] = "no-store"
    return response


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
