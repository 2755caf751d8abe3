"""Show the list of runs, and the actions on one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from labeling.models import DatasetVersion
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.policies.offered import version_named
from toolevals.runs.aggregates.run_rows import run_rows
from toolevals.runs.files import lists
from toolevals.runs.files.failure_export import COLUMNS, failing_lines, failing_rows
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import Grading, Run
from toolevals.runs.queries import asked_grading
from toolevals.runs.runs.forms import BaselineForm, RecordedForm, RunForm, UploadForm
from toolevals.runs.runs.recorded import RecordedImport, recorded_import
from toolevals.runs.runs.repeating import errored_ask_again, run_repeat
from toolevals.runs.runs.requesting import run_request_baseline, run_request_upload
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.jobs.views import job_act
from toolevals.workspace.models import Job, within
from toolevals.workspace.paging import page_of, pages_of
from toolevals.workspace.requests import ProjectRequest, is_own_page, whole_number


@require_safe
def runs(request: ProjectRequest) -> HttpResponse:
    """List the runs, the newest first; `?experiment=` picks those of one. To HTMX, the table again."""
    experiment = request.GET.get("experiment", "")
    page = page_of(_listed(request), request.GET.get("before", ""))
    rows = run_rows(page.rows)
    context = {
        "rows": rows,
        "older": page.older,
        "experiment": request.project.experiments.filter(slug=experiment).first() if experiment else None,
        "any_rule": any(row.rate and not row.decided.is_usual for row in rows),
        "any_cost": any(row.took.cost_of_case is not None for row in rows),
        "any_tokens": any(row.took.tokens_of_case is not None for row in rows),
        "any_latency": any(row.took.latency_p95 is not None for row in rows),
        "any_running": any(row.is_running for row in rows),
    }
    return render(request, "runs/parts/run_table.html" if request.htmx else "runs/runs.html", context)


@require_safe
def runs_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    rows = (row for page in pages_of(_listed(request)) for row in run_rows(page))
    return csv_file("runs", lists.RUNS, lists.run_lines(rows))


@require_POST
def act(request: ProjectRequest, number: int, act: str) -> HttpResponse:
    """Do one of `JOB_ACTS` with the newest work on the run."""
    job_act(request, _job(request, number), act)
    return _back(request)


@require_POST
def regrade(request: ProjectRequest, number: int) -> HttpResponse:
    """Grade the run's transcripts on the newest version of its dataset; with a policy, where one is chosen."""
    try:
        slug, _, said = request.POST.get("policy", "").partition("@")
        policy = version_named(request.project, slug, whole_number(said)) if slug else None
        grading = grading_start(run=_run(request, number), actor=request.user, policy=policy)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
    else:
        version = grading.dataset_version.number
        messages.info(request, f"Grading run {number} again, on v{version}. The earlier grading stays until then.")
    return _back(request)


def _listed(request: ProjectRequest) -> Any:
    """Return the runs that the address asks for."""
    experiment = request.GET.get("experiment", "")
    return Run.objects.in_project(request.project).of_people().of_experiment(experiment).with_newest()


def _run(request: ProjectRequest, number: int) -> Run:
    return get_object_or_404(Run.objects.select_related("project", "dataset_version__dataset"), **_key(request, number))


def _job(request: ProjectRequest, number: int) -> Job:
    """Return the job of the run's newest grading, or 404."""
    return get_object_or_404(
        Job, pk__in=_run(request, number).gradings.order_by("-number").values("job")[:1], project=request.project
    )


def _key(request: ProjectRequest, number: int) -> dict[str, object]:
    return {"project": request.project, "number": number}


def _back(request: ProjectRequest) -> HttpResponse:
    """Return to the page that asked, if it is one of ours; else to the list."""
    asked = request.POST.get("next", "")
    return redirect(asked if is_own_page(request, asked) else reverse("runs:runs", args=[request.project.slug]))


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    """Show both forms; by POST, start a run of the baseline."""
    form = BaselineForm(request.project, request.POST or None, initial=initial_of(request), prefix="baseline")
    if request.method == "POST" and form.is_valid():
        run = _started(form, lambda: run_request_baseline(**_who(request), request=form.request()))
        if run:
            return redirect("reports:run", request.project.slug, run.number)
    return _page(request, form, UploadForm(request.project, initial=initial_of(request), prefix="upload"))


@require_POST
def upload(request: ProjectRequest) -> HttpResponse:
    """Start a run of uploaded predictions."""
    form = UploadForm(request.project, request.POST, request.FILES, prefix="upload")
    if form.is_valid():
        file = form.cleaned_data["file"]
        run = _started(
            form,
            lambda: run_request_upload(**_who(request), request=form.request(), file=file, file_name=file.name or ""),
        )
        if run:
            return redirect("reports:run", request.project.slug, run.number)
    return _page(request, BaselineForm(request.project, initial=initial_of(request), prefix="baseline"), form)


def _who(request: ProjectRequest) -> dict[str, Any]:
    return {"project": request.project, "actor": request.user}


def _started(form: RunForm, start: Callable[[], Run]) -> Run | None:
    """Return the run, or None with what is wrong shown in the form."""
    try:
        return start()
    except InvalidDocument as error:
        form.add_problems(error)
        return None


def initial_of(request: ProjectRequest) -> dict[str, Any]:
    """Return what the address fills in, `?experiment=` and `?dataset_version=`; by default the newest version."""
    newest = DatasetVersion.objects.filter(within(request.project, "dataset")).order_by("-pk").first()
    wanted = {key: request.GET[key] for key in ("experiment", "dataset_version") if key in request.GET}
    return {"trials": 1, "dataset_version": newest, **wanted}


def _page(request: ProjectRequest, baseline: BaselineForm, upload: UploadForm) -> HttpResponse:
    context = {
        "baseline": baseline,
        "upload": upload,
        "connectors": CONNECTORS,
        "experiments": baseline.experiments,
        "has_versions": baseline.fields["dataset_version"].queryset.exists(),  # type: ignore[attr-defined]
    }
    status = 422 if baseline.errors or upload.errors else 200
    return render(request, "runs/new.html", context, status=status)


# So many kinds of what was left out are told at once.
_MOST_TOLD = 5


@require_http_methods(["GET", "HEAD", "POST"])
def recorded_new(request: ProjectRequest) -> HttpResponse:
    """Ask for the file; by POST, take it in and go to the table of our verdicts by the recorded rewards."""
    form = RecordedForm(request.project, request.POST or None, request.FILES or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            done = recorded_import(
                actor=request.user, request=form.request(), content=file.read(), file_name=file.name or "runs"
            )
        except InvalidDocument as error:
            for problem in error.problems:
                form.add_error("file", str(problem))
        else:
            _tell(request, done)
            return redirect("reports:recorded", request.project.slug, done.run.number)
    context = {"form": form, "experiments": form.experiments}
    return render(request, "runs/recorded_new.html", context, status=422 if form.errors else 200)


def _tell(request: ProjectRequest, done: RecordedImport) -> None:
    known = done.tasks - done.new
    words = f"Tasks: {done.tasks:,}, of which {done.new:,} are new and {known:,} were there already by their content."
    messages.success(request, words)
    for loss in done.readings.losses[:_MOST_TOLD]:
        messages.warning(request, f"Left out of the conversations: {loss}.")


@require_POST
def errored(request: ProjectRequest, number: int) -> HttpResponse:
    """Ask the agent again where it could not be reached."""
    try:
        errored_ask_again(run=_graded_run(request, number), actor=request.user)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
    return redirect("reports:run", request.project.slug, number)


@require_POST
def failing(request: ProjectRequest, number: int) -> HttpResponse:
    """Start a run like this one over what failed in it."""
    try:
        made = run_repeat(run=_graded_run(request, number), actor=request.user, only_failing=True)
    except InvalidDocument as error:
        messages.error(request, error.problems[0].message)
        return redirect("reports:run", request.project.slug, number)
    return redirect("reports:run", request.project.slug, made.number)


@require_safe
def failing_jsonl(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the failing cases of a grading as JSON Lines."""
    headers = {"Content-Disposition": f'attachment; filename="run-{number}-failing.jsonl"'}
    lines = failing_lines(_grading(request, number))
    return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)


@require_safe
def failing_csv(request: ProjectRequest, number: int) -> StreamingHttpResponse:
    """Send the failing cases of a grading as CSV."""
    return csv_file(f"run-{number}-failing", COLUMNS, failing_rows(_grading(request, number)))


def _grading(request: ProjectRequest, number: int) -> Grading | None:
    return asked_grading(_graded_run(request, number), request.GET.get("grading", ""))


def _graded_run(request: ProjectRequest, number: int) -> Run:
    runs = Run.objects.select_related("project", "agent", "experiment", "dataset_version__dataset")
    return get_object_or_404(runs, project=request.project, number=number)
