"""Show what a project says about its traces: how long they stay, which are taken, and what is taken out of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from toolevals.traces.forms import TraceSettingsForm
from toolevals.traces.models import TraceSettings
from toolevals.traces.reading.limits import Limits
from toolevals.traces.scrubbing import Scrubber
from toolevals.traces.services.settings import trace_settings_update
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def trace_settings(request: ProjectRequest) -> HttpResponse:
    """Show and set it. With `try`, show what the rules take out of a text, and keep nothing."""
    form = TraceSettingsForm(request.POST or None, initial=TraceSettingsForm.values(TraceSettings.of(request.project)))
    tried = None
    if request.method == "POST" and form.is_valid():
        if "try" in request.POST:
            tried = Scrubber(form.rules).without(form.cleaned_data["sample"])
        else:
            trace_settings_update(
                project=request.project,
                actor=request.user,
                retention_days=form.cleaned_data["retention_days"],
                sample_rate=form.cleaned_data["sample_rate"],
                rules=form.rules,
                limits=Limits(form.cleaned_data["most_tokens"], form.cleaned_data["most_cost"]),
            )
            messages.info(request, "Saved. It holds for what comes from now on.")
            return redirect("traces:settings", request.project.slug)
    return render(request, "traces/settings.html", {"form": form, "tried": tried})
