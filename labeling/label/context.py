"""Show what the label page shows, put together from the slot, the draft and the person's progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from labeling.conversation import read_conversation
from labeling.conversation.turns import folded
from labeling.expectations.wording import expectation_words
from labeling.guidelines.views import guide_context
from labeling.label.open_tasks import Counts, progress_of, to_calibrate
from labeling.label.queries import (
    count_answers,
    newest_label,
    own_draft,
    own_label,
)
from labeling.label.scope import scope_key
from labeling.label.services import may_change
from labeling.label.statements import page_facts
from labeling.label_form.form_from_expectation import empty_form, form_of
from labeling.label_form.panel import panel
from labeling.models import Label, LabelSlot, Revision, Skip, SlotState, SpareLabel, Suggestion
from labeling.second_looks.pending_second_looks import looks_due
from toolevals.grading.layers.recovery import trouble_in
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.models import User
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


# The page's fields that are not part of the expectation.
BESIDE = frozenset({"csrfmiddlewaretoken", "to", "at", "as", "put", "scope"})
MAX_FIELDS = 1000


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as the list shows it."""

    name: str
    description: str
    effect: str


@dataclass(frozen=True, slots=True)
class Started:
    """The first state of the page."""

    data: QueryDict
    saved_at: datetime | None = None


def label_context(
    request: ProjectRequest,
    slot: LabelSlot,
    *,
    undo: Label | SpareLabel | Skip | None = None,
    counts: Counts | None = None,
) -> dict[str, Any]:
    """Return everything that the page of one claimed slot shows.

    `undo`: what this person has just done, where it can be taken back. `counts`: their part of the dataset, where it is
    known already.
    """
    revision = slot.revision
    facts = page_facts(revision, request.user)
    begun = facts.drafted or facts.labelled
    started = started_of(revision, request.user) if begun else Started(empty_form())
    panel_url = reverse("labeling:label-panel", args=[request.project.slug, slot.pk])
    return {
        **work_context(request, revision, started, panel_url=panel_url),
        "parts_url": reverse("labeling:label-slot", args=[request.project.slug, slot.pk]),
        "slot": slot,
        "too_late": _too_late(slot),
        "flagged": bool(started.data.get("flagged")),
        "progress": progress_of(revision.example.dataset, request.user, counts),
        "calibration": to_calibrate(request.project, request.user) if facts.calibrating else None,
        "looks": len(looks_due(request.project, request.user)) if facts.planned else 0,
        "scope": scope_key(request.GET),
        "show_ask": "ask" in request.GET,
        "remarks": facts.remarks,
        "answers": count_answers(request.project, request.user) if facts.asked else 0,
        "own_keys": facts.keys,
        **urls_of(request, slot),
        **suggestion_context(request, revision, started.data),
        **undo_context(request, undo),
    }


def work_context(request: ProjectRequest, revision: Revision, started: Started, *, panel_url: str) -> dict[str, Any]:
    """Return what every page shows on which an example is labelled: conversation, tools, form and guideline."""
    tools = tools_in(revision.tools)
    return {
        "revision": revision,
        "example": revision.example,
        "dataset": revision.example.dataset,
        "conversation": folded(read_conversation(revision.input)),
        "ask": "What should the agent do next?",
        "tools": offered(tools),
        "panel": panel(started.data, tools, is_recovery=about_recovery(revision)),
        "panel_url": panel_url,
        "rationale": started.data.get("rationale", ""),
        "seconds": started.data.get("seconds", "0"),
        "saved_at": started.saved_at,
        "show_guide": "guide" in request.GET,
        **(guide_context(revision) if "guide" in request.GET else {}),
    }


def _too_late(slot: LabelSlot) -> bool:
    """Tell whether the slot's label was submitted, and can no longer be changed."""
    label = newest_label(slot) if slot.state == SlotState.SUBMITTED else None
    return label is not None and not may_change(label, slot.revision.example.dataset.project)


def urls_of(request: ProjectRequest, slot: LabelSlot) -> dict[str, str]:
    """Return where the page of a slot says that someone is at work, left or skips, and where it asks for the next."""
    named = {f"{act}_url": f"label-{act}" for act in ("renew", "leave", "skip", "ahead")}
    return {name: reverse(f"labeling:{to}", args=[request.project.slug, slot.pk]) for name, to in named.items()}


def undo_context(request: ProjectRequest, undo: Label | SpareLabel | Skip | None) -> dict[str, Any]:
    """Return what the toast says of the last act, and where it can be taken back."""
    if undo is None:
        return {}
    name = undo.revision.example.external_id
    if isinstance(undo, SpareLabel):
        return {"toast": f"Saved as a spare label: {name} was already labelled by others."}
    if isinstance(undo, Label):
        url = reverse("labeling:label-undo", args=[request.project.slug, undo.pk])
        return {"toast": f"Submitted {name}.", "undo_url": url, "undo_seconds": request.project.undo_seconds}
    url = reverse("labeling:skip-undo", args=[request.project.slug, undo.pk])
    return {"toast": f"Skipped {name}. Another person will get it.", "undo_url": url, "undo_seconds": 0}


def started_of(revision: Revision, user: User) -> Started:
    """Return what this person has entered for a revision: the draft, else their label, else nothing."""
    draft = drafted(revision, user)
    if draft is not None:
        return draft
    label = own_label(revision, user)
    if label is None:
        return Started(empty_form())
    data = form_of(label.expectation, tools_in(revision.tools), answer=label.answer).copy()
    data["rationale"] = label.rationale
    data["flagged"] = "1" if label.flagged else ""
    return Started(data)


def drafted(revision: Revision, user: User) -> Started | None:
    """Return what this person has entered for a revision and not handed in; None where there is nothing."""
    draft = own_draft(revision, user)
    return Started(fields_of(draft.document), draft.saved_at) if draft is not None else None


def draft_document(data: QueryDict) -> dict[str, Any]:
    """Return the page's fields as they are kept in a draft."""
    pairs = [[name, value] for name, values in data.lists() if name not in BESIDE for value in values]
    return {"fields": pairs[:MAX_FIELDS]}


def fields_of(document: Any) -> QueryDict:
    """Return the page's fields from a draft; what is not of that shape is left out."""
    data = QueryDict(mutable=True)
    pairs = document.get("fields") if isinstance(document, dict) else None
    for pair in pairs if isinstance(pairs, list) else []:
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
            data.appendlist(pair[0], pair[1])
    return data


def about_recovery(revision: Revision) -> bool:
    """Return whether a tool answers with an error in the conversation: the label then says which reactions are right.

    Nothing but the conversation decides: an example's strata could tell its label.
    """
    messages = revision.input.get("messages")
    try:
        results = transcript_in(messages).results if isinstance(messages, list) else ()
    except InvalidDocument:
        return False
    troubles = (trouble_in(result.content, is_error=result.is_error) for result in results)
    return any(trouble is not None and trouble.is_error for trouble in troubles)


def offered(tools: Sequence[ToolSpec]) -> list[OfferedTool]:
    """Return the tools as the list shows them."""
    return [OfferedTool(tool.name, tool.description, _effect(tool)) for tool in tools]


def _effect(tool: ToolSpec) -> str:
    said = tool.annotations
    if said.destructive:
        return "destructive"
    if said.read_only is None:
        return ""
    return "reads" if said.read_only else "writes"


def seconds_of(data: QueryDict) -> float:
    """Return the seconds of work that the page counted; at most four hours, 0 where it counted none."""
    text = data.get("seconds", "")
    return min(float(text), 4 * 3600.0) if text.replace(".", "", 1).isdigit() and text.isascii() else 0.0
