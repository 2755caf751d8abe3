"""Show a person's keys: the page on which they change them."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.queue.keyboard import ACTIONS, Action
from labeling.services.keys import keys_set
from labeling.templatetags.keyboard import own_keys
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.requests import ProjectRequest

PAGES = (
    ("label", "Label and adjudicate"),
    ("adjudicate", "Adjudicate only"),
)


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
