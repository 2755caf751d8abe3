"""Make examples of traces: a sample of a filter, or one trace."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from toolevals.traces.filters import TraceFilter
from toolevals.traces.forms import PromotionForm
from toolevals.traces.models import Trace
from toolevals.traces.services import PromotionRequest, promotion_start
from toolevals.traces.services.promoting import KIND
from toolevals.workspace.models import Job
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def promote(request: ProjectRequest) -> HttpResponse:
    """Ask for the dataset and the sample; by POST, begin the job."""
    wanted, trace = TraceFilter.of(request.GET), _trace(request)
    form = PromotionForm(request.POST or None, project=request.project, alone=trace is not None)
    if request.method == "POST" and form.is_valid():
        asked = PromotionRequest(
            dataset=form.cleaned_data["dataset"],
            wanted=wanted.said,
            count=form.cleaned_data.get("count") or 1,
            seed=form.cleaned_data.get("seed") or 0,
            traces=(trace.pk,) if trace else (),
        )
        job = promotion_start(request=asked, actor=request.user)
        return redirect(job.result_path)
    context = {"form": form, "wanted": wanted, "trace": trace, "job": _job(request)}
    return render(request, "traces/promote.html", context)


def _job(request: ProjectRequest) -> Job | None:
    """Return the promotion that the address names; none where it names none, or something else."""
    try:
        pk = UUID(request.GET.get("job", ""))
    except ValueError:
        return None
    return Job.objects.filter(project=request.project, kind=KIND, pk=pk).with_progress().first()


def _trace(request: ProjectRequest) -> Trace | None:
    asked = request.GET.get("trace", "")
    try:
        return get_object_or_404(Trace, project=request.project, pk=UUID(asked)) if asked else None
    except ValueError:
        return None
