"""Show a dataset's guideline: its wordings, their differences, a new one; and the pane next to an example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from labeling.conversation.tool_description import tool_reading
from labeling.guidelines.blocks import guideline_blocks
from labeling.guidelines.services import guideline_publish
from labeling.guidelines.solved_examples import solved_examples
from labeling.models import Dataset, GuidelineVersion, Revision
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest, whole_number

# Of longer texts the beginnings are compared: comparing takes quadratic time.
MAX_LINES = 2000


def guide_context(revision: Revision) -> dict[str, Any]:
    """Return the guideline in force, the offered tools with their schemas, and solved examples of theirs."""
    tools = tools_in(revision.tools)
    dataset = revision.example.dataset
    return {
        "revision": revision,
        "dataset": dataset,
        "guideline": guideline_blocks(dataset.guideline),
        "guideline_version": dataset.guidelines.first(),
        "tool_readings": [tool_reading(tool) for tool in tools],
        "solved": solved_examples(revision, frozenset(tool.name for tool in tools)),
    }


class GuidelineForm(PlainForm):
    """Another wording."""

    text = forms.CharField(
        required=False,
        max_length=100_000,
        label="Text",
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text="A line that begins with # is a heading, with - an entry of a list.",
    )
    note = forms.CharField(max_length=300, required=False, label="What is new", help_text="For who read the last one.")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of two wordings: "same", "added" or "removed"."""

    kind: str
    text: str


@require_GET
def guide(request: ProjectRequest, revision: UUID) -> HttpResponse:
    """Return what the guideline pane next to one example shows."""
    rows = Revision.objects.in_project(request.project).with_content()
    return render(request, "labeling/parts/guide_body.html", guide_context(get_object_or_404(rows, pk=revision)))


@require_http_methods(["GET", "POST"])
def guideline(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show the guideline in force; with `?version=`, an earlier one and what it changed; by POST, publish another."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project), slug=dataset)
    form = GuidelineForm(request.POST or None, initial={"text": dataset_row.guideline})
    if request.method == "POST" and form.is_valid():
        version = guideline_publish(dataset=dataset_row, actor=request.user, **form.cleaned_data)
        words = (
            f"Version {version.number} is now the current guideline."
            if version
            else "This is already the current text."
        )
        messages.success(request, words)
        return redirect("labeling:guideline", request.project.slug, dataset_row.slug)
    shown = _version(dataset_row, request.GET.get("version", ""))
    before = dataset_row.guidelines.filter(number__lt=shown.number).first() if shown else None
    context = {
        "dataset": dataset_row,
        "here": "settings",
        "form": form,
        "shown": shown,
        "before": before,
        "guideline": guideline_blocks(shown.text if shown else dataset_row.guideline),
        "diff": diff_lines(before.text, shown.text) if shown and before else [],
        "page": page_of(dataset_row.guidelines.select_related("actor"), request.GET.get("before", "")),
    }
    return render(request, "labeling/guideline.html", context, status=422 if form.errors else 200)


def diff_lines(old: str, new: str) -> list[DiffLine]:
    """Return two texts line by line: what both have, what went and what came."""
    return list(_compared(old.splitlines()[:MAX_LINES], new.splitlines()[:MAX_LINES]))


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffLine]:
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (DiffLine("same", line) for line in old[old_from:old_to])
            continue
        yield from (DiffLine("removed", line) for line in old[old_from:old_to])
        yield from (DiffLine("added", line) for line in new[new_from:new_to])


def _version(dataset: Dataset, number: str) -> GuidelineVersion | None:
    """Return the version asked for, else the newest; None where there is none."""
    versions = dataset.guidelines.select_related("actor")
    if (wanted := whole_number(number)) is not None:
        return get_object_or_404(versions, number=wanted)
    return versions.first()
