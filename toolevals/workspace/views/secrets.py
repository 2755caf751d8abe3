"""Shows the secrets of a project: their names and where they may be sent, never their values."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.forms.projects import AddressesForm, SecretForm
from toolevals.workspace.lists import SECRETS, secret_lines
from toolevals.workspace.models import Secret
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.services.secrets import secret_forget, secret_set


@sensitive_post_parameters("value")
@require_http_methods(["GET", "POST"])
def secrets(request: ProjectRequest) -> HttpResponse:
    """List what is kept; by POST, keep one more, or another value under a name."""
    form = SecretForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            # Of a secret that is there, an empty list of addresses changes nothing.
            secret_set(
                project=request.project,
                actor=request.user,
                name=said["name"],
                value=said["value"],
                addresses=said["addresses"] or None,
            )
            return redirect("workspace:secrets", request.project.slug)
        except ValidationError as error:
            form.add_error(None, error)
    context = {"secrets": request.project.secrets.select_related("actor"), "form": form}
    return render(request, "workspace/secrets.html", context, status=422 if form.errors else 200)


@require_safe
def secrets_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list."""
    return csv_file("secrets", SECRETS, secret_lines(rows_of(request.project.secrets.select_related("actor"))))


@sensitive_post_parameters("value")
@require_http_methods(["GET", "POST"])
def addresses(request: ProjectRequest, secret: UUID) -> HttpResponse:
    """Show where a secret may be sent; by POST, change that together with its value."""
    found = _secret(request, secret)
    form = AddressesForm(request.POST or None, initial={"addresses": "\n".join(found.addresses)})
    if request.method == "POST" and form.is_valid():
        try:
            secret_set(
                project=request.project,
                actor=request.user,
                name=found.name,
                value=form.cleaned_data["value"],
                addresses=form.cleaned_data["addresses"],
            )
            return redirect("workspace:secrets", request.project.slug)
        except ValidationError as error:
            form.add_error(None, error)
    context = {"secret": found, "form": form}
    return render(request, "workspace/secret_addresses.html", context, status=422 if form.errors else 200)


@require_POST
def forget(request: ProjectRequest, secret: UUID) -> HttpResponse:
    """Delete one."""
    secret_forget(secret=_secret(request, secret), actor=request.user)
    return redirect("workspace:secrets", request.project.slug)


def _secret(request: ProjectRequest, pk: UUID) -> Secret:
    return get_object_or_404(request.project.secrets.select_related("project"), pk=pk)
