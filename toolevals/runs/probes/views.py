"""Begin checks of judges with probes, and show what came of them and both answers about one probe."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from labeling.conversation import Picks
from labeling.conversation.lines import lines
from toolevals.grading.judging import Rubric
from toolevals.grading.judging.probing import ProbeSet
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging.shown_questions import shown_question
from toolevals.runs.models import Judge, ProbeCheck
from toolevals.runs.probes.reading import EFFECT_WORDS, ProbesForm, listed_probes, probe_estimate
from toolevals.runs.probes.results import COLUMNS, probe_rows, probed
from toolevals.runs.probes.services import probes_begin
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "HEAD", "POST"])
def probes_new(request: ProjectRequest, judge: UUID) -> HttpResponse:
    """Show what a check takes; by POST, begin."""
    judge_row = get_object_or_404(Judge.objects.in_project(request.project).select_related("project"), pk=judge)
    form = ProbesForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = probes_begin(judge=judge_row, actor=request.user, budget=form.cleaned_data["budget"])
            return redirect("runs:probes", request.project.slug, made.pk)
        except InvalidDocument as error:
            form.add_problems(error)
    context = {"judge": judge_row, "form": form, "estimate": probe_estimate(judge_row)}
    return render(request, "runs/probes_new.html", context, status=422 if form.errors else 200)


@require_safe
def probes(request: ProjectRequest, probing: UUID) -> HttpResponse:
    """Show how far a check is, and which probes move the judge so far."""
    check = _check(request, probing)
    results = probed(check)
    context = {
        "check": check,
        "judge": check.judge,
        "found": results,
        "listed": listed_probes(results.found, request.GET),
        "effects": [(effect, EFFECT_WORDS[effect], count) for effect, count in results.whole.effects.items() if count],
        "words": EFFECT_WORDS,
    }
    return render(request, "runs/probes.html", context)


@require_safe
def probe(request: ProjectRequest, probing: UUID, probe: str) -> HttpResponse:
    """Show one probe: the question that holds it, and the judge's answers without and with it."""
    check = _check(request, probing)
    results = probed(check)
    moved = next((each for each in results.found if each.probe.id == probe), None)
    if moved is None:
        raise Http404
    answers = results.both(moved)
    shown = ProbeSet.from_document(check.probes)
    rubric = Rubric.from_document(check.judge.rubric.document)
    asked = shown.transcripts[moved.probe.base].holding(moved.probe).request(rubric)
    context = {
        "check": check,
        "judge": check.judge,
        "moved": moved,
        "effect": EFFECT_WORDS[moved.effect],
        "question": shown_question(asked.inputs),
        "answers": [
            (title, row, lines(row.answer, Picks()) if row and row.answer else ())
            for title, row in zip(("Without the probe", "With the probe"), answers, strict=True)
        ],
    }
    return render(request, "runs/probe.html", context)


@require_safe
def probes_csv(request: ProjectRequest, probing: UUID) -> StreamingHttpResponse:
    """Send a line for each probe of a check."""
    check = _check(request, probing)
    return csv_file(f"probes-{check.pk}", COLUMNS, probe_rows(check))


def _check(request: ProjectRequest, pk: UUID) -> Any:
    return get_object_or_404(ProbeCheck.objects.in_project(request.project).with_spending(), pk=pk)
