"""Show re-readings of a run: draw the cases, follow progress and results, and read one case after the other."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judge_calibrations.services import LONGEST_NOTE
from toolevals.runs.judging.blindness import names_raters
from toolevals.runs.judging.forms import ServiceForm
from toolevals.runs.judging.shown_questions import shown_question
from toolevals.runs.models import Grading, Reading, RereadCase, Rereading, Said
from toolevals.runs.one_by_one import case_named, refused, taken, too_late
from toolevals.runs.rereading.results import PEOPLE, VERDICTS, case_rows, progress_of, results_of
from toolevals.runs.rereading.services import (
    MOST_CASES,
    MOST_READERS,
    USUAL_SIZE,
    RereadingRequest,
    case_read,
    rereading_begin,
    rereading_cancel,
    rereading_close,
)
from toolevals.runs.rereading.shown_cases import case_inputs, guideline_of, judged_words
from toolevals.runs.rereading.tables import COLUMNS, reading_lines
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.idempotency.submissions import acknowledged
from toolevals.workspace.models import Role, within
from toolevals.workspace.requests import ProjectRequest, page_number

# Key -> what is said, in words.
CHOICES: Final = (
    ("1", Said.RIGHT.value, "right"),
    ("2", Said.WRONG.value, "wrong"),
    ("0", Said.CANNOT_SAY.value, "cannot say"),
)
CASES_A_PAGE: Final = 50
# What a key does -> the keys.
KEYMAP: Final = (("Right, wrong", ("1", "2")), ("Cannot say", ("0",)), ("A note", ("N",)))


class RereadingForm(ServiceForm):
    """Says how many cases are drawn of a grading, and how many people read each."""

    passed = forms.IntegerField(min_value=1, max_value=MOST_CASES, initial=USUAL_SIZE, label="Passed cases")
    failed = forms.IntegerField(min_value=1, max_value=MOST_CASES, initial=USUAL_SIZE, label="Failed cases")
    readers = forms.IntegerField(min_value=1, max_value=MOST_READERS, initial=1, label="Readers of each case")
    seed = forms.CharField(
        max_length=100,
        required=False,
        help_text="Any text. The same seed selects the same cases. Leave empty to use today’s date.",
    )

    def request(self, grading: Grading) -> RereadingRequest:
        """Return the re-reading that is asked for; the form is valid."""
        return RereadingRequest(grading=grading, **self.cleaned_data)


class ReadingForm(forms.Form):
    """Holds what one person says of one case."""

    value = forms.ChoiceField(
        choices=Said.choices, error_messages={"required": "Choose an answer.", "invalid_choice": "Choose an answer."}
    )
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, strip=True)

    def said(self) -> dict[str, Any]:
        """Return what is said; the form is valid."""
        return {"said": self.cleaned_data["value"], "note": self.cleaned_data["note"]}


@require_http_methods(["GET", "HEAD", "POST"])
def rereading_new(request: ProjectRequest, number: int, grading: int) -> HttpResponse:
    """Show the form; by POST, draw the cases of a re-reading."""
    row = grading_of(request, number, grading)
    form = RereadingForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = rereading_begin(request=form.request(row), actor=request.user)
            return redirect("runs:rereading", request.project.slug, made.pk)
        except InvalidDocument as error:
            form.add_problems(error)
    context = {"run": row.run, "grading": row, "form": form}
    return render(request, "runs/rereading_new.html", context, status=422 if form.errors else 200)


@require_safe
def rereading(request: ProjectRequest, rereading: UUID) -> HttpResponse:
    """Show how far a re-reading is; once it is closed, what came of it."""
    row = rereading_of(request, rereading)
    may_read = request.role >= Role.REVIEWER
    context: dict[str, Any] = {
        "rereading": row,
        "grading": row.grading,
        "run": row.grading.run,
        "own": Reading.objects.filter(case__rereading=row, reader=request.user).count(),
        "left": row.cases.left_for(request.user).count() if may_read else 0,
        "resting": row.cases.resting().count() if row.is_open else 0,
        "wanted_readings": row.size * row.readers,
        "people": list(progress_of(row)) if names_raters(request.role) else (),
        "named": names_raters(request.role),
        "may_read": may_read,
        "results": results_of(row),
    }
    if row.has_results:
        context |= _listed(request, row)
    return render(request, "runs/rereading.html", context)


def _listed(request: ProjectRequest, found: Rereading) -> dict[str, Any]:
    """Return the cases that the address asks for, some of them."""
    verdict, said, page = (request.GET.get(name, "") for name in ("verdict", "said", "page"))
    verdict, said = verdict if verdict in VERDICTS else "", said if said in PEOPLE else ""
    number = page_number(page)
    cases = case_rows(found, verdict=verdict, said=said)
    end = number * CASES_A_PAGE
    return {
        "wanted": {"verdict": verdict, "said": said},
        "said_words": PEOPLE.get(said, ""),
        "people_words": PEOPLE,
        "count": len(cases),
        "rows": cases[end - CASES_A_PAGE : end],
        "page": number,
        "more": number + 1 if len(cases) > end else 0,
    }


@require_POST
def rereading_end(request: ProjectRequest, rereading: UUID) -> HttpResponse:
    """Close a re-reading with the readings that it has."""
    row = rereading_of(request, rereading)
    rereading_close(rereading=row, actor=request.user)
    return redirect("runs:rereading", request.project.slug, row.pk)


@require_POST
def rereading_stop(request: ProjectRequest, rereading: UUID) -> HttpResponse:
    """Cancel a re-reading: nothing comes of it."""
    row = rereading_of(request, rereading)
    try:
        rereading_cancel(rereading=row, actor=request.user)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
    return redirect("runs:rereading", request.project.slug, row.pk)


@require_safe
def rereading_csv(request: ProjectRequest, rereading: UUID) -> StreamingHttpResponse:
    """Send a line for each reading that this person may see; of a closed re-reading, all its cases."""
    row = rereading_of(request, rereading)
    asked = {name: request.GET.get(name, "") for name in ("verdict", "said")}
    return csv_file(f"re-reading-{row.pk}", COLUMNS, reading_lines(row, request.user, request.role, **asked))


@require_http_methods(["GET", "HEAD", "POST"])
@acknowledged
def reread(request: ProjectRequest, rereading: UUID) -> HttpResponse:
    """Show the next case that this person may read; by POST, keep what they say of one and go on.

    A script is told where to go on; 422 what is wrong, 409 that it comes too late.
    """
    row = rereading_of(request, rereading)
    left = row.cases.left_for(request.user)
    if request.method != "POST":
        return _shown(request, row, left.with_content().first(), ReadingForm())
    address, form = reverse("runs:reread", args=[request.project.slug, row.pk]), ReadingForm(request.POST)
    case = case_named(row.cases.all().with_content(), request.POST.get("case"))
    if case is None:
        return too_late(request, "That is not a case of this re-reading.", address)
    if not form.is_valid():
        # No one is shown again what they may not read any more.
        again = left.filter(pk=case.pk).exists()
        return refused(request, form, lambda: _shown(request, row, case if again else None, form, status=422))
    try:
        case_read(case=case, actor=request.user, **form.said())
    except InvalidDocument as error:
        return too_late(request, error.problems[0].message, address)
    return taken(request, address)


def _shown(
    request: ProjectRequest, rereading: Any, case: RereadCase | None, form: ReadingForm, status: int = 200
) -> HttpResponse:
    if case is None:
        return redirect("runs:rereading", request.project.slug, rereading.pk)
    own = Reading.objects.filter(case__rereading=rereading, reader=request.user).count()
    context = {
        "rereading": rereading,
        "case": case,
        "question": shown_question(case_inputs(case)),
        "judged": judged_words(case),
        "guideline": guideline_of(case),
        "choices": CHOICES,
        "form": form,
        "own": own,
        "of": own + rereading.cases.left_for(request.user).count(),
        "keymap": KEYMAP,
        "address": reverse("runs:reread", args=[request.project.slug, rereading.pk]),
        "whole_url": reverse("runs:rereading", args=[request.project.slug, rereading.pk]),
        "late_title": "This reading could not be taken",
    }
    return render(request, "runs/reread.html", context, status=status)


def grading_of(request: ProjectRequest, number: int, grading: int) -> Grading:
    """Return a finished grading of a run of the project. Raises Http404."""
    rows = Grading.objects.filter(within(request.project, "run"), run__number=number, finished_at__isnull=False)
    row = rows.filter(number=grading).select_related("run__project", "run__dataset_version").first()
    if row is None:
        raise Http404
    return row


def rereading_of(request: ProjectRequest, pk: UUID) -> Any:
    """Return a re-reading of the project with its progress. Raises Http404."""
    return get_object_or_404(Rereading.objects.in_project(request.project).with_progress(), pk=pk)
