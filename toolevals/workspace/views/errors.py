"""Answers when something is wrong: problem+json for programs, a page for people."""

from __future__ import annotations

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.csrf import csrf_failure

from toolevals.workspace.api.problems import problem
from toolevals.workspace.requests import is_api


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, with the sentence of a refusal of ours; Django's own may tell too much."""
    reason = str(exception) if isinstance(exception, BadRequest) else ""
    if is_api(request):
        return problem(400, reason)
    return render(request, "400.html", {"reason": reason}, status=400)


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
    """Answer 500."""
    if is_api(request):
        return problem(500)
    # The page stands alone: whatever broke may break the usual frame too.
    return render(request, "500.html", status=500)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a write without its CSRF token."""
    if is_api(request):
        return problem(403, reason)
    return csrf_failure(request, reason)
