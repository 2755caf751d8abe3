"""Shows owners of the installation its people, and lets them close accounts; gives people what names them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.files import File
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import User
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.people.departure import (
    DepartureError,
    heirs_of,
    projects_owned_alone,
    user_deactivate,
    user_delete,
    user_reactivate,
)
from toolevals.workspace.people.rows import person_export
from toolevals.workspace.requests import SignedInRequest

# So many new owners are offered; any other person is named by the address.
OFFERED: Final = 50
PEOPLE: Final = ("user_id", "name", "email", "state", "is_installation_owner", "created_at")


class DeleteForm(PlainForm):
    """The form that deletes a person for good."""

    heir = forms.CharField(
        max_length=254,
        label="E-mail address of the new owner of these projects",
        widget=forms.TextInput({"list": "heirs", "autocomplete": "off", "spellcheck": "false"}),
    )
    has_export = forms.BooleanField(label="The person has an export of their data, or wants none.")
    typed = forms.CharField(max_length=254, label="E-mail address of the person, to confirm")

    def __init__(self, person: User, alone: bool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._person = person
        if not alone:
            del self.fields["heir"]

    def clean_heir(self) -> User:
        heir = heirs_of(self._person).filter(email=self.cleaned_data["heir"].strip().lower()).first()
        if heir is None:
            raise forms.ValidationError("No other person who can sign in has this address. Nothing was deleted.")
        return heir

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"].strip().lower()
        if typed != self._person.email:
            raise forms.ValidationError(f"Type {self._person.email} to delete the person. Nothing was deleted.")
        return typed


def person_lines(people: Iterable[User]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each person."""
    for each in people:
        yield each.pk, each.name, each.email, each.state, each.is_installation_owner, each.created_at


@require_safe
def people(request: SignedInRequest) -> HttpResponse:
    """List the people of the installation, the newest first."""
    page = page_of(User.objects.all(), request.GET.get("before", ""))
    return render(request, "workspace/people.html", {"page": page})


@require_safe
def people_csv(request: SignedInRequest) -> StreamingHttpResponse:
    """Send the people."""
    return csv_file("people", PEOPLE, person_lines(rows_of(User.objects.all())))


@require_safe
def person(request: SignedInRequest, person: UUID) -> HttpResponse:
    """Show one person, with what can be done with the account."""
    found = get_object_or_404(User, pk=person)
    return _page(request, found, DeleteForm(found, projects_owned_alone(found).exists()))


@require_POST
def switch(request: SignedInRequest, person: UUID) -> HttpResponse:
    """Deactivate an account, or open it again, as the form says: two owners who press the same do the same."""
    found = get_object_or_404(User, pk=person)
    try:
        if request.POST.get("is_active") == "yes":
            user_reactivate(person=found, actor=request.user)
        else:
            user_deactivate(person=found, actor=request.user)
    except DepartureError as error:
        messages.error(request, str(error))
    if not request.user.is_active or found == request.user:
        return redirect("workspace:home")
    return redirect("workspace:person", found.pk)


@require_http_methods(["GET", "POST"])
def delete(request: SignedInRequest, person: UUID) -> HttpResponse:
    """Delete a person for good."""
    found = get_object_or_404(User, pk=person)
    if request.method == "GET":
        return redirect("workspace:person", found.pk)
    form = DeleteForm(found, projects_owned_alone(found).exists(), request.POST)
    if form.is_valid():
        try:
            pseudonym = user_delete(person=found, actor=request.user, heir=form.cleaned_data.get("heir"))
        except DepartureError as error:
            form.add_error(None, str(error))
        else:
            messages.info(request, f"The person is deleted. What they did stays under the name {pseudonym}.")
            return redirect("workspace:people")
    return _page(request, found, form)


@require_safe
def my_export(request: SignedInRequest) -> StreamingHttpResponse:
    """Send every row that names the person who asks."""
    headers = {"Content-Disposition": f'attachment; filename="person-{request.user.pk}.zip"'}
    return StreamingHttpResponse(_exported(request.user), content_type="application/zip", headers=headers)


def _exported(person: User) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        person_export(person, file)
        file.seek(0)
        yield from File(file).chunks()


def _page(request: SignedInRequest, person: User, form: DeleteForm) -> HttpResponse:
    context = {
        "person": person,
        "memberships": person.memberships.select_related("project").order_by("project__name", "pk"),
        "alone": list(projects_owned_alone(person)),
        "heirs": heirs_of(person)[:OFFERED],
        "form": form,
    }
    return render(request, "workspace/person.html", context, status=422 if form.errors else 200)
