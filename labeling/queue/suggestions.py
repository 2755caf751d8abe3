"""Say what a model suggests for the current example, where the project shows that: read, taken over, and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import QueryDict

from labeling.expectations.wording import expectation_words
from labeling.label_form.form_from_expectation import form_of
from labeling.models import Revision, Suggestion
from toolevals.grading.values import ToolSpec
from toolevals.workspace.requests import ProjectRequest

SEEN = "suggestion_seen"


def suggestion_context(request: ProjectRequest, revision: Revision, entered: QueryDict) -> dict[str, Any]:
    """Return what the label page shows of a suggestion; nothing where there is none or the project wants none."""
    found = _shown(request, revision)
    if found is None:
        return {}
    words = expectation_words(found.expectation)
    return {"suggestion": found, "suggestion_words": words, "suggestion_seen": entered.get(SEEN, "")}


def taken_over(request: ProjectRequest, revision: Revision, tools: Sequence[ToolSpec]) -> QueryDict | None:
    """Return the form's fields for the suggestion where the page asks to take it over, else None."""
    found = _shown(request, revision) if request.POST.get("to") == "suggestion" else None
    return form_of(found.expectation, tools) if found is not None else None


def seen_suggestion(request: ProjectRequest, revision: Revision) -> dict[str, Any] | None:
    """Return what is kept with a label of a suggestion that the reviewer looked at; None where they did not."""
    found = _shown(request, revision) if request.POST.get(SEEN) else None
    return {"source": found.source, "expectation": found.expectation} if found is not None else None


def _shown(request: ProjectRequest, revision: Revision) -> Suggestion | None:
    if not request.project.suggestions:
        return None
    return Suggestion.objects.filter(revision=revision).first()
