"""The secrets of a project: their names, never their values."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.workspace.forms.projects import SecretForm
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.services import secret_forget, secret_set


@sensitive_post_parameters("value")
@require_http_methods(["GET", "POST"])
def secrets(request: ProjectRequest) -> HttpResponse:
    """List what is kept; by POST, keep one more, or another value under a name."""
    form = SecretForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            secret_set(project=request.project, actor=request.user, **form.cleaned_data)
            return redirect("workspace:secrets", request.project.slug)
        except ValidationError as error:
            form.add_error(None, error)
    context = {"secrets": request.project.secrets.select_related("actor"), "form": form}
    return render(request, "workspace/secrets.html", context, status=422 if form.errors else 200)


@require_POST
def forget(request: ProjectRequest, secret: UUID) -> HttpResponse:
    """Delete one."""
    secret_forget(
        secret=get_object_or_404(request.project.secrets.select_related("project"), pk=secret), actor=request.user
    )
    return redirect("workspace:secrets", request.project.slug)
