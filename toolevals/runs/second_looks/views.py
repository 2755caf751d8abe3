"""Show second looks of a dataset: whose proposals reviewers see, and how often people go over to them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from labeling.models import Dataset, LookPlan
from labeling.second_looks.bias import BIAS_CSV, KINDS, bias_lines, bias_of
from labeling.second_looks.pending_second_looks import plan_at_work
from labeling.second_looks.services import MOST_PLANTED, second_looks_end
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Run
from toolevals.runs.second_looks.services import second_looks_propose
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project
from toolevals.workspace.requests import ProjectRequest

MOST_SEED = 2**31 - 1


class SecondLooksForm(PlainForm):
    """The form for the run that proposes, and how much of it is wrong on purpose."""

    run = forms.IntegerField(
        min_value=1,
        label="Run",
        help_text="The number of an earlier run. What its agent did in the same examples is proposed.",
    )
    planted_percent = forms.FloatField(
        min_value=0,
        max_value=100 * MOST_PLANTED,
        initial=10,
        label="Wrong on purpose, in percent",
        help_text="Reviewers know beforehand that some proposals are wrong, and learn afterwards which ones. 0 "
        "means none.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MOST_SEED, initial=0, label="Seed", help_text="The same seed draws the same examples."
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_run(self) -> Run:
        run = Run.objects.in_project(self.project).of_people().filter(number=self.cleaned_data["run"]).first()
        if run is None:
            raise forms.ValidationError("There is no such run in this project.")
        return run


@require_http_methods(["GET", "POST"])
def second_looks(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show whose proposals are shown in a dataset, and each person's figures; by POST, begin, or end, second looks."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project).select_related("project"), slug=dataset)
    if "end" in request.POST:
        second_looks_end(dataset=dataset_row, actor=request.user)
        messages.info(request, "The second looks are ended.")
        return redirect("runs:second-looks", request.project.slug, dataset_row.slug)
    form = SecondLooksForm(request.project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            made = second_looks_propose(
                dataset=dataset_row,
                actor=request.user,
                run=data["run"],
                planted_share=data["planted_percent"] / 100,
                seed=data["seed"],
            )
            messages.info(request, f"{made.proposals.count():,} proposals wait for second looks.")
            return redirect("runs:second-looks", request.project.slug, dataset_row.slug)
        except InvalidDocument as error:
            form.add_error("run", f"This run {error.problems[0].message}.")
    plan = plan_at_work(dataset_row)
    context = {
        "dataset": dataset_row,
        "here": "settings",
        "form": form,
        "plan": plan,
        "proposals": plan.proposals.count() if plan else 0,
        "planted": plan.proposals.filter(is_planted=True).count() if plan else 0,
        "earlier": LookPlan.objects.filter(dataset=dataset_row, ended_at__isnull=False).order_by("-id")[:10],
        "kinds": KINDS.values(),
        "people": bias_of(dataset_row),
    }
    return render(request, "runs/second_looks.html", context, status=422 if form.errors else 200)


@require_safe
def second_looks_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send each person's figures."""
    row = get_object_or_404(Dataset.objects.in_project(request.project), slug=dataset)
    return csv_file(f"{row.slug}-second-looks", BIAS_CSV, bias_lines(bias_of(row)))
