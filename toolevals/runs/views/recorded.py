"""Take in a benchmark's result file: its tasks as examples, its recorded trials as a run."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.forms import RecordedForm
from toolevals.runs.services.recorded import RecordedImport, recorded_import
from toolevals.workspace.requests import ProjectRequest

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
