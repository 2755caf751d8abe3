"""Show what came of one's own labels: where someone decided otherwise, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from labeling.adjudicate.label_columns import Column
from labeling.conversation.turns import snippet
from labeling.expectations.comparison import Part, compare_answers
from labeling.expectations.wording import summary
from labeling.feedback.services import feedback_mark_seen
from labeling.models import Feedback, LabelAnswer
from toolevals.json_types import JsonObject
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest

PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class FeedbackRow:
    """One decision next to one's own label: the parts that differ, yours on the left, and why it was decided so."""

    feedback: Feedback
    parts: tuple[Part, ...]
    rationale: str
    said: str
    message: str
    yours: str


@require_GET
def feedback(request: ProjectRequest) -> HttpResponse:
    """Show the newest decisions that differ from one's labels; with `?same`, those that do not."""
    mine = Feedback.objects.for_reviewer(request.project, request.user)
    differs = "same" not in request.GET
    page = page_of(mine.differing(differs=differs).with_content(), request.GET.get("before", ""), PAGE_SIZE)
    context: dict[str, Any] = {
        "page": page,
        "rows": [_row_of(row) for row in page.rows],
        "differs": differs,
        "differing": mine.differing().count(),
        "same": mine.differing(differs=False).count(),
        "unseen": mine.unseen().count(),
    }
    return render(request, "labeling/feedback.html", context)


@require_POST
def feedback_seen(request: ProjectRequest) -> HttpResponse:
    """Mark all of it as read."""
    feedback_mark_seen(project=request.project, actor=request.user)
    return redirect("labeling:feedback", request.project.slug)


def _row_of(row: Feedback) -> FeedbackRow:
    gold, made, label = row.gold, row.adjudication, row.label
    if gold is not None:
        answer, expectation, rationale = LabelAnswer.EXPECTATION.value, gold.expectation, gold.rationale
    else:
        answer = made.answer if made else label.revision.set_aside_as
        expectation, rationale = None, made.rationale if made else ""
    parts = compare_answers(Column("", label.answer, label.expectation, ()), Column("", answer, expectation, ()))
    message = snippet(label.revision.input)
    return FeedbackRow(
        row,
        parts.differing,
        rationale,
        said=_short(answer, expectation),
        message=message,
        yours=_short(label.answer, label.expectation),
    )


def _short(answer: str, expectation: JsonObject | None) -> str:
    return summary(expectation) if expectation is not None else str(LabelAnswer(answer).label)
