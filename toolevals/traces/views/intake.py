"""Takes what agents send by OTLP over HTTP: `POST /v1/traces` and `/v1/logs`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from toolevals.grading.values.problems import InvalidDocument
from toolevals.traces.intake.bodies import Refused, body_of, content_type_of
from toolevals.traces.intake.encodings import LOGS, PROTOBUF, TRACES, Signal, answer, document_of
from toolevals.traces.intake.rates import RATES
from toolevals.traces.intake.sorting import Sorted, sorted_records, sorted_spans
from toolevals.traces.models import TraceSettings
from toolevals.traces.scrubbing import Scrubber
from toolevals.traces.services import spans_store
from toolevals.workspace.api.problems import problem
from toolevals.workspace.disk import is_low
from toolevals.workspace.models import Project
from toolevals.workspace.requests import ProjectRequest

Cut = Callable[..., Sorted]
# Senders try again where somebody must make room, and give up where an answer says so at once.
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
    document = document_of_request(request, content_type, signal)
    found = _sorted(request.project, partial(cut, document, was_protobuf=content_type == PROTOBUF))
    RATES.note(request.project.pk, found.left_out + sum(map(len, found.traces.values())))
    stored = spans_store(project=request.project, traces=found.traces, signal=signal)
    for reason in stored.reasons:
        found.reject(reason, 0)
    found.rejected += stored.rejected
    return found.rejected, found.message


def document_of_request(request: HttpRequest, content_type: str, signal: Signal = TRACES) -> dict[str, object]:
    """Return the export that a request brings. Raises `Refused`."""
    try:
        return document_of(body_of(request), content_type, signal)
    except InvalidDocument as error:
        raise Refused(HTTPStatus.BAD_REQUEST, _sentence(error)) from None


def _sorted(project: Project, cut: Cut) -> Sorted:
    settings = TraceSettings.of(project)
    change = Scrubber(settings.rules).without if settings.scrub else None
    try:
        return cut(rate=settings.sample_rate, change=change)
    except InvalidDocument as error:
        raise Refused(HTTPStatus.BAD_REQUEST, _sentence(error)) from None


def _sentence(error: InvalidDocument) -> str:
    problem = error.problems[0]
    return f"{problem.pointer} {problem.message}".strip()
