"""Takes what agents send by OTLP over HTTP: `POST /v1/traces` and `/v1/logs`."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.intake.bodies import Refused, body_of, content_type_of
from toolevals.traces.intake.encodings import LOGS, PROTOBUF, TRACES, Signal, answer, document_of, message_of
from toolevals.traces.intake.messages import sorted_messages
from toolevals.traces.intake.rates import RATES
from toolevals.traces.intake.sorting import Sorted, sorted_records, sorted_spans
from toolevals.traces.models import TraceSettings
from toolevals.traces.scrubbing import Scrubber
from toolevals.traces.services.storing import spans_store
from toolevals.workspace.api.problems import problem
from toolevals.workspace.disk import is_low
from toolevals.workspace.requests import ProjectRequest

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
