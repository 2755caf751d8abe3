"""Shows the API tokens of a project, and revokes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django import forms
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.presentation.csv import Cell
from toolevals.workspace.clock import database_now
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import ApiToken, Role, TokenScope
from toolevals.workspace.paging import rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tokens.services import token_create, token_revoke

# Of tokens that need no role.
ONE_THING: Final = (TokenScope.TRACES, TokenScope.GUARD)


class TokenForm(PlainForm):
    """A new token."""

    # A role by its number, or the scope of a token that has none.
    role = forms.ChoiceField(
        label="At most", choices=[*Role.choices, *((each.value, each.label) for each in ONE_THING)]
    )
    name = forms.CharField(max_length=80, help_text="What it is for, such as “nightly gate”.")
    days = forms.TypedChoiceField(
        label="Ends",
        choices=[("90", "in 90 days"), ("365", "in a year"), ("30", "in 30 days"), ("0", "never")],
        coerce=int,
    )
    field_order = ("name", "role", "days")

    @property
    def scope(self) -> TokenScope:
        """Return what the token is for."""
        role = self.cleaned_data["role"]
        return TokenScope(role) if role in ONE_THING else TokenScope.PROJECT

    @property
    def most(self) -> Role:
        """The most that the token may; one that does one thing has the least role."""
        return Role.VIEWER if self.scope in ONE_THING else Role(int(self.cleaned_data["role"]))

    @property
    def expires_at(self) -> datetime | None:
        """Return when the token ends; None: never."""
        days: int = self.cleaned_data["days"]
        return database_now() + timedelta(days=days) if days else None


TOKENS: Final = (
    "token_id",
    "name",
    "prefix",
    "user_id",
    "user",
    "role",
    "scope",
    "created_at",
    "last_used_at",
    "expires_at",
)


def token_lines(tokens: Iterable[ApiToken]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each token that was read with its person; of the secret, what the list shows of it."""
    for each in tokens:
        times = each.created_at, each.last_used_at, each.expires_at
        yield each.pk, each.name, each.prefix, each.user.pk, each.user.name, each.get_role_display(), each.scope, *times


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
