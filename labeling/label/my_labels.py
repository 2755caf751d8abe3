"""Show a person their own labels: what became of each, and which can still be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.blindness import RESOLVED, shown_resolution
from labeling.conversation.turns import snippet
from labeling.expectations.meaning import meaning
from labeling.expectations.wording import summary
from labeling.models import Label, LabelAnswer, Resolution
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project
from toolevals.workspace.requests import ProjectRequest, whole_number

PAGE_SIZE = 50
# The columns that the list is sorted by, with the fields behind them.
SORTS: Final = {"example": "revision__example__external_id", "state": "status", "handed-in": "pk"}


@dataclass(frozen=True, slots=True)
class MyLabel:
    """One's label of an example; `state` is empty until the example is decided."""

    label: Label
    says: str
    said: str
    state: str
    may_change: bool


@require_GET
def my_labels(request: ProjectRequest) -> HttpResponse:
    """List one's labels, the newest first or as `?sort=` says."""
    asked = request.GET.get("sort", "")
    sort = asked if asked.removeprefix("-") in SORTS else "-handed-in"
    at = max(whole_number(request.GET.get("page", "")) or 1, 1)
    start = (at - 1) * PAGE_SIZE
    own = Label.objects.in_project(request.project).filter(reviewer=request.user).newest()
    own = own.annotate(status=shown_resolution(request.user, request.role, revision="revision"))
    key = F(SORTS[sort.removeprefix("-")])
    order = (key.desc() if sort.startswith("-") else key.asc(), "-pk")
    content = own.select_related("slot", "revision__gold", "revision__example__dataset").order_by(*order)
    found = list(content[start : start + PAGE_SIZE + 1])
    context = {
        "rows": _rows(found[:PAGE_SIZE], request.project),
        "sort": sort,
        "number": at,
        "next": at + 1 if len(found) > PAGE_SIZE else None,
        "undo_minutes": request.project.undo_seconds // 60,
    }
    return render(request, "labeling/my_labels.html", context)


def _rows(labels: Sequence[Label], project: Project) -> list[MyLabel]:
    since = database_now() - timedelta(seconds=project.undo_seconds)
    return [
        MyLabel(
            label,
            snippet(label.revision.input),
            summary(label.expectation) if label.expectation is not None else str(LabelAnswer(label.answer).label),
            _state(label),
            may_change=label.created_at >= since
            and label.slot.round == label.revision.round
            and label.revision.example.current_id == label.revision_id
            and vars(label)["status"] == Resolution.OPEN,
        )
        for label in labels
    ]


def _state(label: Label) -> str:
    """Return what became of a label, once its example is decided."""
    revision = label.revision
    if revision.resolution not in RESOLVED:
        return ""
    gold = revision.gold
    answer = LabelAnswer.EXPECTATION.value if gold else revision.set_aside_as
    same = meaning(label.answer, label.expectation) == meaning(answer, gold.expectation if gold else None)
    what = "gold" if gold else "set aside"
    return f"{what}, as you labelled" if same else f"{what}, decided otherwise"
