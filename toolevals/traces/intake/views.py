"""Takes what agents send by OTLP over HTTP, and shows what a project says about it."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.intake.encodings import (
    LOGS,
    PROTOBUF,
    RATES,
    TRACES,
    Refused,
    Signal,
    answer,
    body_of,
    content_type_of,
    document_of,
    message_of,
)
from toolevals.traces.intake.forms import TraceSettingsForm
from toolevals.traces.intake.scrubbing import Scrubber
from toolevals.traces.intake.services import spans_store, trace_settings_update
from toolevals.traces.intake.sorting import Sorted, sorted_messages, sorted_records, sorted_spans
from toolevals.traces.models import TraceSettings
from toolevals.traces.reading.limits import Limits
from toolevals.workspace.api.problems import problem
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.uploads.services import is_low

Cut = Callable[..., Sorted]
# Senders try again where someone must make room, and give up where an answer says so at once.
FULL_SECONDS = 60


@csrf_exempt
@require_POST
def traces(request: ProjectRequest) -> HttpResponse:
    """Store the spans of a batch, and only then say so. Errors are put into OTLP's form by the middleware."""
    return _answer(request, TRACES, sorted_spans)


@csrf_exempt
@require_POST
def logs(request: ProjectRequest) -> HttpResponse:
    """Store the log records of a batch, likewise: events of their spans."""
    return _answer(request, LOGS, sorted_records)


def _answer(request: ProjectRequest, signal: Signal, cut: Cut) -> HttpResponse:
    try:
        content_type = content_type_of(request)
        _require_room()
        RATES.require(request.project.pk)
        with RATES.at_work():
            rejected, message = _taken(request, content_type, signal, cut)
    except Refused as error:
        response = problem(error.status, error.sentence)
        if error.retry_after is not None:
            response["Retry-After"] = str(error.retry_after)
        return response
    body = answer(content_type, rejected=rejected, message=message, signal=signal)
    return HttpResponse(body, content_type=content_type)


def _require_room() -> None:
    if is_low():
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The server's disk is nearly full.", FULL_SECONDS)


def _taken(request: ProjectRequest, content_type: str, signal: Signal, cut: Cut) -> tuple[int, str]:
    """Store what can be stored; return how many items cannot, and why. Raises `Refused`."""
    found = _sorted(request, content_type, signal, cut)
    RATES.note(request.project.pk, found.left_out + sum(map(len, found.traces.values())))
    stored = spans_store(project=request.project, traces=found.traces, signal=signal)
    for reason in stored.reasons:
        found.reject(reason, 0)
    found.rejected += stored.rejected
    return found.rejected, found.message


def _sorted(request: ProjectRequest, content_type: str, signal: Signal, cut: Cut) -> Sorted:
    """Return what a request brings, sorted. What is scrubbed must be read; else spans in protobuf stay as they are."""
    settings = TraceSettings.of(request.project)
    body, rate = body_of(request), settings.sample_rate
    try:
        if content_type == PROTOBUF and signal is TRACES and not settings.scrub:
            return sorted_messages(message_of(body), rate=rate)
        change = Scrubber(settings.rules).without if settings.scrub else None
        return cut(document_of(body, content_type, signal), rate=rate, change=change)
    except InvalidDocument as error:
        first = error.problems[0]
        raise Refused(HTTPStatus.BAD_REQUEST, f"{first.pointer} {first.message}".strip()) from None


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
            messages.info(request, "Saved. It holds for new traces only.")
            return redirect("traces:settings", request.project.slug)
    return render(request, "traces/settings.html", {"form": form, "tried": tried})
