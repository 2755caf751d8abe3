"""Show what stands behind the tools: simulators, the datasets that have one, and the tools that need one."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from labeling.models import Dataset
from toolevals.grading.values.problems import InvalidDocument
from toolevals.presentation import numbers
from toolevals.runs.files.judge_lists import SIMULATORS, simulator_lines
from toolevals.runs.models import Simulator, SimulatorKind
from toolevals.runs.simulators.contents import code_digest, is_trusted
from toolevals.runs.simulators.forms import FORMS, ChoiceForm, shown_content
from toolevals.runs.simulators.needs import COLUMNS, needs_of
from toolevals.runs.simulators.services import simulator_begin, simulator_choose
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Job
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest

# Of a file, a page shows so many characters.
SHOWN = 20_000


@require_http_methods(["GET", "HEAD", "POST"])
def simulators(request: ProjectRequest) -> HttpResponse:
    """Show the tools of `?dataset=` and who simulates them, and all simulators; by POST, choose one for a dataset."""
    if request.method == "POST":
        form = ChoiceForm(request.project, request.POST)
        if form.is_valid():
            data = form.cleaned_data
            simulator_choose(dataset=data["dataset"], actor=request.user, simulator=data["simulator"])
            return redirect(_of(request, data["dataset"]))
        messages.error(request, "There is no such dataset or simulator here.")
        return redirect("runs:simulators", request.project.slug)
    datasets = Dataset.objects.in_project(request.project)
    dataset = datasets.filter(slug=request.GET["dataset"]).first() if "dataset" in request.GET else datasets.first()
    needs = needs_of(dataset, actor=request.user) if dataset else None
    initial = {"dataset": dataset.slug, "simulator": needs.simulator} if dataset and needs else {}
    context = {
        "datasets": datasets,
        "dataset": dataset,
        "needs": needs,
        "coverage": numbers.percent(needs.coverage) if needs else "",
        "choice": ChoiceForm(request.project, initial=initial),
        "page": page_of(Simulator.objects.in_project(request.project), request.GET.get("before", "")),
    }
    return render(request, "runs/simulators.html", context)


@require_safe
def simulators_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send all simulators, the newest first."""
    rows = rows_of(Simulator.objects.in_project(request.project))
    return csv_file("simulators", SIMULATORS, simulator_lines(rows))


@require_safe
def tools_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the tools of a dataset, those with the most calls first."""
    row = get_object_or_404(Dataset.objects.in_project(request.project), slug=dataset)
    tools = needs_of(row, actor=request.user).tools
    rows = ((tool.tool, tool.expected, tool.called, tool.is_simulated) for tool in tools)
    return csv_file(f"{row.slug}-simulated-tools", COLUMNS, rows)


@require_safe
def simulator(request: ProjectRequest, simulator: UUID) -> HttpResponse:
    """Show one: what it is made of, which tools it answers, and the datasets that have it."""
    row = get_object_or_404(Simulator.objects.filter(project=request.project).select_related("actor"), pk=simulator)
    files = row.content["files"] if row.kind == SimulatorKind.CODE else None
    context = {
        "simulator": row,
        "parts": [(title, text[:SHOWN], len(text) > SHOWN) for title, text in shown_content(row)],
        "datasets": Dataset.objects.filter(simulation__simulator=row).order_by("name"),
        "code_digest": code_digest(files) if files else "",
        "is_trusted": bool(files) and is_trusted(files or {}),
    }
    return render(request, "runs/simulator.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def simulator_new(request: ProjectRequest) -> HttpResponse:
    """Show a form for each kind; by POST, add the simulator of the one that was sent.

    Code and MCP servers are asked which tools they answer, in a job, which is shown.
    """
    kind = request.POST.get("kind", "")
    forms = {
        name: form(request.project, request.POST, request.FILES) if name == kind else form(request.project)
        for name, form in FORMS.items()
    }
    sent = forms.get(kind)
    if sent is not None and sent.is_valid():
        try:
            made = simulator_begin(
                project=request.project,
                actor=request.user,
                name=sent.cleaned_data["name"],
                kind=kind,
                content=sent.content(),
            )
            page = "workspace:job" if isinstance(made, Job) else "runs:simulator"
            return redirect(page, request.project.slug, made.pk)
        except InvalidDocument as error:
            sent.add_problems(error)
    status = 422 if sent is not None else 200
    return render(request, "runs/simulator_new.html", {"forms": forms}, status=status)


def _of(request: ProjectRequest, dataset: Dataset) -> str:
    return f"{reverse('runs:simulators', args=[request.project.slug])}?dataset={dataset.slug}"
