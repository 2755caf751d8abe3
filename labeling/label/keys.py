"""Show the page on which a person changes their keys, and keep these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.label.keyboard import ACTIONS, Action, binding_problems
from labeling.models import KeyBindings
from labeling.templatetags.keyboard import own_keys
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User
from toolevals.workspace.requests import ProjectRequest

PAGES = (
    ("label", "Label and adjudicate"),
    ("adjudicate", "Adjudicate only"),
)


@transaction.atomic
def keys_set(*, actor: User, bindings: Mapping[str, str]) -> KeyBindings:
    """Keep a person's keys by the names of actions; what is the usual key, or is not named, is the usual one.

    Raises InvalidDocument, with a pointer `/<action>`, for a key that cannot be had or that two actions would share.
    """
    usual = {action.name: action.key for action in ACTIONS}
    own = {name: key for name, key in bindings.items() if key != usual.get(name)}
    problems = binding_problems(own)
    if problems:
        raise InvalidDocument([Problem(f"/{name}", words) for name, words in problems.items()])
    kept, _ = KeyBindings.objects.update_or_create(user=actor, defaults={"bindings": own})
    audit_record(project=None, actor=actor, verb="keys_set", target=kept)
    return kept


@dataclass(frozen=True, slots=True)
class KeyField:
    """One action's field on the page."""

    action: Action
    value: str
    problem: str = ""


@require_http_methods(["GET", "POST"])
def keys(request: ProjectRequest) -> HttpResponse:
    """Show a person's keys; by POST, change them, or with `usual` go back to the usual ones."""
    own = own_keys(request.user)
    problems: dict[str, str] = {}
    if request.method == "POST":
        names = [action.name for action in ACTIONS if action.name]
        own = {name: key for name in names if (key := request.POST.get(name, "").strip().lower())}
        own = {} if "usual" in request.POST else own
        try:
            keys_set(actor=request.user, bindings=own)
        except InvalidDocument as error:
            problems = {problem.pointer.removeprefix("/"): problem.message for problem in error.problems}
        else:
            messages.success(request, "The default keys are set." if "usual" in request.POST else "Kept your keys.")
            return redirect("labeling:keys", request.project.slug)
    context = {"groups": [(title, _fields(page, own, problems)) for page, title in PAGES]}
    return render(request, "labeling/keys.html", context, status=422 if problems else 200)


def _fields(page: str, own: dict[str, str], problems: dict[str, str]) -> list[KeyField]:
    """Return the fields of the actions whose first page it is; those of one name share a key, and a field."""
    first = {action.name: action for action in reversed(ACTIONS) if action.name}
    actions = [action for action in ACTIONS if first.get(action.name) is action and action.pages[0] == page]
    return [KeyField(one, own.get(one.name, one.key), problems.get(one.name, "")) for one in actions]
