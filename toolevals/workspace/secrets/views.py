"""Shows the secrets of a project: their names and where they may be sent, never their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.agents.secret_binding import OriginError, origins_read
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Secret
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.secrets.services import secret_forget, secret_set


class AddressesForm(PlainForm):
    """The addresses that a secret may be sent to, and its value: one changes only together with the other."""

    value = forms.CharField(
        max_length=10_000,
        strip=True,
        help_text="It cannot be shown again. Addresses change only together with it.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )
    addresses = forms.CharField(
        label="Allowed addresses",
        required=False,
        max_length=20_000,
        help_text="Scheme, host and port, one a line, such as https://models.example.org. The secret is sent to "
        "no other address.",
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "class": "form-control mono"}),
    )

    def clean_addresses(self) -> list[str]:
        lines = self.cleaned_data["addresses"].splitlines()
        try:
            return origins_read(line for line in lines if line.strip())
        except OriginError as error:
            raise forms.ValidationError(f"{error}.") from None


class SecretForm(AddressesForm):
    """A value to keep under a name, and where it may be sent."""

    field_order = ("name", "value", "addresses")

    name = forms.SlugField(max_length=60, help_text="Letters, digits and hyphens, such as “model-host”.")


SECRETS: Final = ("secret_id", "name", "addresses", "set_by_id", "set_by", "changed_at")


def secret_lines(secrets: Iterable[Secret]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each secret that was read with who set it; its addresses parted by spaces, and no value."""
    for each in secrets:
        who = (each.actor.pk, each.actor.name) if each.actor else (None, None)
        yield each.pk, each.name, " ".join(each.addresses), *who, each.changed_at


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
