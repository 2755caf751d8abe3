"""Show the judges of a project, and the cost of judging a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.grading.judging.rubrics import RUBRIC_LAYERS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.files.judge_lists import JUDGES, judge_lines
from toolevals.runs.grading.services import unscored_ask
from toolevals.runs.judging.estimate import judging_estimates
from toolevals.runs.judging.forms import SHIPPED_PREFIX, JudgeChangeForm, JudgeForm, problem_texts
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.judging.services import judge_add, judge_change, layer_switch, rubric_use
from toolevals.runs.judging.unscored import unscored_layers
from toolevals.runs.models import Judge, JudgeCalibration, Rubric, Run
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Project, Role
from toolevals.workspace.paging import page_of, pages_of
from toolevals.workspace.requests import ProjectRequest, read_id


@dataclass(frozen=True, slots=True)
class JudgedLayer:
    """One layer that has judges: how many, and the shares of examples that those which are on are asked about."""

    name: str
    judges: int
    on: int
    least: float | None
    most: float | None


def layers_of(project: Project) -> list[JudgedLayer]:
    """Return the layers that have judges, in their order."""
    by_layer: dict[str, list[tuple[bool, float]]] = {}
    rows = Judge.objects.filter(project=project).values_list("rubric__layer", "is_on", "share")
    for name, is_on, share in rows:
        by_layer.setdefault(name, []).append((is_on, share))
    return [_layer(name, by_layer[name]) for name in RUBRIC_LAYERS if name in by_layer]


def _layer(name: str, judges: list[tuple[bool, float]]) -> JudgedLayer:
    shares = [share for is_on, share in judges if is_on]
    return JudgedLayer(name, len(judges), len(shares), min(shares, default=None), max(shares, default=None))


@require_safe
def judges(request: ProjectRequest) -> HttpResponse:
    """List the judges, the newest first, with what is known of each."""
    page = page_of(_listed(request), request.GET.get("before", ""))
    standings = standings_of(page.rows)
    newest = (
        Run.objects.filter(project=request.project, grading__isnull=False, baseline_agent="")
        .order_by("-number")
        .first()
    )
    to_rate = JudgeCalibration.objects.in_project(request.project).open().with_progress()
    context = {
        "page": page,
        "rows": [(judge, standings[judge.pk]) for judge in page.rows],
        "again": [judge for judge in page.rows if judge.is_on and standings[judge.pk].is_old],
        "layers": layers_of(request.project),
        "to_rate": to_rate,
        "may_rate": request.role >= Role.REVIEWER,
        "newest": newest,
    }
    return render(request, "runs/judges.html", context)


@require_safe
def judges_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    return csv_file("judges", JUDGES, judge_lines(pages_of(_listed(request))))


@require_POST
def layer(request: ProjectRequest) -> HttpResponse:
    """Switch the judges of a layer on or off."""
    name, on = request.POST.get("layer", ""), request.POST.get("is_on", "")
    if name in RUBRIC_LAYERS and on in ("0", "1"):
        layer_switch(project=request.project, actor=request.user, layer=name, is_on=on == "1")
    else:
        messages.error(request, "Name a layer, and whether its judges are to be on.")
    return redirect("runs:judges", request.project.slug)


@require_http_methods(["GET", "HEAD", "POST"])
def judge_new(request: ProjectRequest) -> HttpResponse:
    """Show the form; by POST, keep a judge, switched off."""
    form = JudgeForm(request.project, request.POST or None, initial={"rubric": request.GET.get("rubric", "")})
    if request.method == "POST" and form.is_valid():
        try:
            judge_add(
                project=request.project,
                actor=request.user,
                rubric=_rubric(request, form.cleaned_data["rubric"]),
                request=form.request(),
            )
            return redirect("runs:judges", request.project.slug)
        except InvalidDocument as error:
            form.add_problems(error)
    return render(request, "runs/judge_new.html", {"form": form}, status=422 if form.errors else 200)


@require_POST
def judge_switch(request: ProjectRequest, judge: UUID) -> HttpResponse:
    """Switch a judge on or off, or change its share or cap."""
    row = get_object_or_404(Judge.objects.in_project(request.project).select_related("project"), pk=judge)
    form = JudgeChangeForm(request.POST)
    try:
        if form.is_valid():
            judge_change(judge=row, actor=request.user, **form.changes())
        else:
            messages.error(request, "A share is from 0.1 to 100 percent, a cap a number from 0.")
    except InvalidDocument as error:
        messages.error(request, " ".join(problem_texts(error)))
    return redirect("runs:judges", request.project.slug)


@require_safe
def judging(request: ProjectRequest, number: int) -> HttpResponse:
    """Say what grading a run again with the judges that are on would ask, and cost."""
    runs = Run.objects.select_related("grading__run__agent__tools__tools", "dataset_version__dataset")
    run = get_object_or_404(runs, project=request.project, number=number)
    return render(request, "runs/judging.html", {"run": run, "estimates": judging_estimates(run)})


@require_http_methods(["GET", "HEAD", "POST"])
def unscored(request: ProjectRequest, number: int) -> HttpResponse:
    """Say what rules leave unscored in a run, and what asking a judge takes; by POST, ask one."""
    runs = Run.objects.select_related("project", "grading__run__agent__tools__tools", "grading__run__project")
    run = get_object_or_404(runs, project=request.project, number=number)
    if request.method == "POST":
        chosen = read_id(request.POST.get("judge", ""))
        judge = Judge.objects.in_project(request.project).filter(pk=chosen).first() if chosen else None
        try:
            if judge is None:
                raise InvalidDocument.at("/judge", "is not a judge of this project")
            unscored_ask(run=run, actor=request.user, judge=judge)
            return redirect("reports:run", request.project.slug, number)
        except InvalidDocument as error:
            messages.error(request, " ".join(problem_texts(error)))
    layers = list(unscored_layers(run.grading)) if run.grading else []
    standings = standings_of([each.judge for layer in layers for each in layer.estimates])
    rows = [(layer, [(each, standings[each.judge.pk]) for each in layer.estimates]) for layer in layers]
    return render(request, "runs/unscored.html", {"run": run, "rows": rows, "has_judges": bool(standings)})


def _listed(request: ProjectRequest) -> Any:
    return Judge.objects.in_project(request.project).with_thumbs().with_newest_count()


def _rubric(request: ProjectRequest, chosen: str) -> Rubric:
    if chosen.startswith(SHIPPED_PREFIX):
        name = chosen.removeprefix(SHIPPED_PREFIX)
        return rubric_use(project=request.project, actor=request.user, name=name)
    return get_object_or_404(Rubric.objects.in_project(request.project), pk=chosen)
