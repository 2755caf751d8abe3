"""Make examples of traces: ask for a sample of a filter, or for one trace."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import Trace, Turns
from toolevals.traces.promotion_forms import PromotionForm
from toolevals.traces.services import PromotionRequest, promotion_start
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def promote(request: ProjectRequest) -> HttpResponse:
    """Ask for the dataset and the sample; by POST, begin the job, with `look` only to show its texts first."""
    wanted, trace = TraceFilter.of(request.GET), _trace(request)
    form = PromotionForm(request.POST or None, project=request.project, alone=trace is not None)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        asked = PromotionRequest(
            dataset=said["dataset"],
            wanted=wanted.said,
            count=said.get("count") or 1,
            seed=said.get("seed") or 0,
            traces=(trace.pk,) if trace else (),
            turns=said.get("turns") or Turns.EVERY,
            strata=said.get("strata") or ("calls",),
            shows_first="look" in request.POST,
        )
        promotion = promotion_start(request=asked, actor=request.user)
        return redirect("traces:promotion", request.project.slug, promotion.pk)
    context = {"form": form, "wanted": wanted, "trace": trace}
    return render(request, "traces/promote.html", context, status=422 if form.errors else 200)


def _trace(request: ProjectRequest) -> Trace | None:
    asked = request.GET.get("trace", "")
    try:
        return get_object_or_404(Trace, project=request.project, pk=UUID(asked)) if asked else None
    except ValueError:
        return None
