"""Shows the API tokens of a project, and revokes them."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.compression import shows_secret
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.forms.projects import TokenForm
from toolevals.workspace.lists import TOKENS, token_lines
from toolevals.workspace.models import Role
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.services.tokens import token_create, token_revoke


@require_http_methods(["GET", "POST"])
def tokens(request: ProjectRequest) -> HttpResponse:
    """List the tokens; by POST, make one. Its secret is in that answer and nowhere else."""
    form = TokenForm(request.POST or None, initial={"role": Role.ADJUDICATOR})
    secret = ""
    if request.method == "POST" and form.is_valid():
        _, secret = token_create(
            project=request.project,
            actor=request.user,
            user=request.user,
            name=form.cleaned_data["name"],
            role=form.most,
            scope=form.scope,
            expires_at=form.expires_at,
        )
        form = TokenForm(initial={"role": Role.ADJUDICATOR})
    context = {
        "tokens": request.project.tokens.filter(revoked_at=None).select_related("user").order_by("-pk"),
        "form": form,
        "secret": secret,
    }
    response = render(request, "workspace/tokens.html", context)
    response["Cache-Control"] = "no-store"
    return shows_secret(response) if secret else response


@require_safe
def tokens_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, without secrets."""
    rows = rows_of(request.project.tokens.filter(revoked_at=None).select_related("user"))
    return csv_file("tokens", TOKENS, token_lines(rows))


@require_POST
def revoke(request: ProjectRequest, token: UUID) -> HttpResponse:
    """End a token."""
    token_revoke(
        token=get_object_or_404(request.project.tokens.select_related("project"), pk=token), actor=request.user
    )
    return redirect("workspace:tokens", request.project.slug)
