"""Show how the views of the work pages answer: a page, the part of it that a script swaps, or a conflict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from toolevals.grading.values.problems import Problem


def page_or_fragment(
    request: HttpRequest, *, page: str, fragment: str, context: dict[str, Any], url: str = ""
) -> HttpResponse:
    """Return the whole page, or for a script that swaps only what changes, that, with the address it belongs to."""
    if not request.headers.get("HX-Request"):
        return redirect(url) if url and request.method == "POST" else render(request, page, context)
    response = render(request, fragment, context)
    if url:
        response.headers["HX-Push-Url"] = url
    return response


def go_to(request: HttpRequest, url: str) -> HttpResponse:
    """Return the answer that leads to another page; a script is named it, and goes there by itself."""
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Push-Url": url})
    return redirect(url)


def conflict(message: str, *, url: str) -> JsonResponse:
    """Return the answer to an act that does not fit the state of things any more; `url` leads on."""
    return JsonResponse({"message": message, "url": url}, status=409)


def sentences(problems: Iterable[Problem]) -> list[str]:
    """Return problems for people, each with its place where it has one."""
    return [f"{problem.pointer}: {problem.message}" if problem.pointer else problem.message for problem in problems]
