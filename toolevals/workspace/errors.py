"""Answers when something is wrong, with problem+json for programs and a page for people, and says whether all works."""

from __future__ import annotations

import sys
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.csrf import csrf_failure
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from toolevals.workspace.api.problems import problem, problem_coded
from toolevals.workspace.clock import clock_difference, database_now
from toolevals.workspace.jobs.sweeper import last_sweep
from toolevals.workspace.monitoring.readiness import READY, SILENT_AFTER, ready
from toolevals.workspace.outages import Outage, outage_of
from toolevals.workspace.requests import is_api, is_by_script
from toolevals.workspace.uploads.services import is_low

HEALTH = "/healthz"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, with the sentence of a refusal of ours; Django's own may tell too much."""
    if isinstance(exception, RequestDataTooBig):
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        sentence = f"What was sent is too large: without its files, a form may have {limit:,} bytes."
        return refused(request, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
    reason = str(exception) if isinstance(exception, BadRequest) else ""
    if is_api(request):
        return problem(400, reason)
    return render(request, "400.html", {"reason": reason}, status=400)


def refused(request: HttpRequest, status: HTTPStatus, sentence: str) -> HttpResponse:
    """Answer a body that is not taken."""
    if is_api(request):
        return problem(status, sentence)
    return render(request, "400.html", {"reason": sentence}, status=status)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 with the reason that the refusal gave."""
    if is_api(request):
        return problem(403, str(exception))
    return render(request, "403.html", {"reason": str(exception)}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    if is_api(request):
        return problem(404)
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500; where the database is away or the disk full, 503 or 507, and what to do."""
    if (outage := outage_of(sys.exception())) is not None:
        return outage_answer(request, outage)
    if is_api(request):
        return problem(500)
    # The page stands alone: whatever broke may break the usual frame too.
    return render(request, "500.html", status=500)


def outage_answer(request: HttpRequest, outage: Outage) -> HttpResponse:
    """Answer while something is out of order, without asking the database for anything."""
    response: HttpResponse
    if request.path_info == HEALTH:
        # The person who asks may be signed in, which alone asks the database.
        response = unreachable()
    elif request.path_info == READY:
        response = ready(request)
    elif is_api(request):
        response = problem(outage.status, f"{outage.title} {outage.sentence}")
    else:
        response = HttpResponse(render_to_string("outage.html", {"outage": outage}), status=outage.status)
    if outage.retry_after is not None:
        response["Retry-After"] = str(outage.retry_after)
    return response


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a write without its CSRF token; a page's script is told whether a fresh token would do."""
    if is_api(request):
        return problem(403, reason)
    if is_by_script(request) and not request.user.is_authenticated:
        return problem_coded(401, "You are signed out. Nothing was saved.", "signed_out")
    if is_by_script(request):
        return problem_coded(
            403, "This page has expired (CSRF token). Nothing was saved. Reload it and try again.", "csrf"
        )
    return csrf_failure(request, reason)


@never_cache
@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 if requests can be answered, 503 if the database is away.

    `workers` is "ok", or "silent" if none gave a sign of life in the last minute: pages work then, jobs wait. `disk` is
    "ok", or "low" once only the database's reserve is left: uploads are refused then. `clock` is "ok", or says by how
    much this server's clock differs from the database's.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        seen, now = last_sweep(), database_now()
        clock = clock_difference() or "ok"
    except Error:
        return unreachable()
    alive = seen is not None and now - seen < SILENT_AFTER
    seen_at = seen.isoformat() if seen else None
    workers = "ok" if alive else "silent"
    return JsonResponse(
        {"database": "ok", "workers": workers, "workers_seen_at": seen_at, "disk": _disk(), "clock": clock}
    )


def unreachable() -> JsonResponse:
    """Return the answer while the database is away."""
    return JsonResponse({"database": "unreachable", "workers": "unknown", "disk": _disk()}, status=503)


def _disk() -> str:
    return "low" if is_low() else "ok"
