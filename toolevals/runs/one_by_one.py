"""Show what pages share on which people answer one case after the other.

How an answer is taken, refused, or too late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import models
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect

from toolevals.workspace.requests import ProjectRequest, is_by_script

Row = TypeVar("Row", bound=models.Model)


def taken(request: ProjectRequest, url: str) -> HttpResponse:
    """Send who answered to the next case; a script is told where it is."""
    return HttpResponse(headers={"HX-Push-Url": url}) if is_by_script(request) else redirect(url)


def refused(request: ProjectRequest, form: forms.Form, shown: Callable[[], HttpResponse]) -> HttpResponse:
    """Say what is wrong with an answer: to a script as JSON, else on the page that `shown` returns."""
    if not is_by_script(request):
        return shown()
    problems = [{"field": name, "message": text} for name, texts in form.errors.items() for text in texts]
    return JsonResponse({"problems": problems}, status=422)


def too_late(request: ProjectRequest, words: str, url: str) -> HttpResponse:
    """Say why an answer can no longer be taken, and where to go on."""
    if is_by_script(request):
        return JsonResponse({"message": words, "url": url}, status=409)
    messages.error(request, words)
    return redirect(url)


def case_named(rows: models.QuerySet[Row], named: Any) -> Row | None:
    """Return the case whose id was sent; None where there is no such."""
    try:
        return rows.filter(pk=UUID(str(named))).first()
    except ValueError:
        return None
