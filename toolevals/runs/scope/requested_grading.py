"""Find the grading of a run that an address asks for."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from toolevals.runs.models import Grading, Run
from toolevals.workspace.address_numbers import whole_number


def asked_grading(run: Run, number: str) -> Grading | None:
    """Return the run's finished grading of that number; without one the newest, None where none is finished.

    Raises Http404 where the run has no such grading.
    """
    if not number:
        return run.grading
    asked = whole_number(number)
    if asked is None:
        raise Http404
    return get_object_or_404(run.gradings, number=asked, finished_at__isnull=False)
