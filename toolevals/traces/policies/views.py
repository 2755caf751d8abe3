"""Shows by which policies traces are checked."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.lists import POLICIES_OF_TRACES
from toolevals.traces.policies.forms import TracePolicyForm
from toolevals.traces.policies.queries import checked_policies
from toolevals.traces.policies.services import trace_policy_set
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file


@require_http_methods(["GET", "HEAD", "POST"])
def policies(request: ProjectRequest) -> HttpResponse:
    """List the policies that traces are checked by; by POST, check by one, or otherwise."""
    form = TracePolicyForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            _, again = trace_policy_set(
                project=request.project,
                actor=request.user,
                policy=said["policy"],
                share=said["share"] / 100,
                days=said["days"],
            )
        except InvalidDocument as error:
            form.add_problems(error)
        else:
            earlier = f" {again:,} traces that are there are checked, too." if again else ""
            messages.info(request, f"Saved. It holds for traces that come from now on.{earlier}")
            return redirect("traces:policies", request.project.slug)
    context = {"form": form, "policies": checked_policies(request.project)}
    return render(request, "traces/policies.html", context, status=422 if form.errors else 200)


@require_safe
def policies_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same table."""
    return table_file("policies-of-traces", POLICIES_OF_TRACES, checked_policies(request.project))
