"""Show the datasheet of a frozen version, or of what the dataset holds now: page, Markdown, JSON."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.adjudicate.resolution import settle_due
from labeling.datasheet.gathering import datasheet_of
from labeling.datasheet.markdown import markdown_lines
from labeling.datasheet.sections import Links, sections_of
from labeling.datasheet.values import Datasheet
from labeling.models import Dataset, DatasetVersion
from labeling.versions.models import NOW
from labeling.versions.views import version_of
from toolevals.workspace.requests import ProjectRequest


@require_GET
def datasheet(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show a datasheet; the version is a number, a tag, or "now"."""
    found, frozen = _asked(request, dataset, version)
    sheet = datasheet_of(found, frozen)
    context = {
        "dataset": found,
        "here": "datasheet",
        "version": frozen,
        "called": str(frozen.number) if frozen else NOW,
        "sheet": sheet,
        "title": _title(sheet),
        "sections": sections_of(sheet, Links(found, frozen, request.role)),
        "versions": found.versions.values_list("number", flat=True)[:50],
    }
    return render(request, "labeling/datasheet.html", context)


@require_GET
def datasheet_markdown(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Send a datasheet as Markdown; its links name this server."""
    found, frozen = _asked(request, dataset, version)
    sheet = datasheet_of(found, frozen)
    links = Links(found, frozen, request.role, base=request.build_absolute_uri("/").rstrip("/"))
    text = "".join(markdown_lines(_title(sheet), sections_of(sheet, links)))
    return _file(text, "text/markdown", sheet, "md")


@require_GET
def datasheet_json(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Send a datasheet as the REST interface does."""
    sheet = datasheet_of(*_asked(request, dataset, version))
    text = json.dumps(sheet.to_document(), indent=2, ensure_ascii=False) + "\n"
    return _file(text, "application/json", sheet, "json")


def _title(sheet: Datasheet) -> str:
    about = sheet.about
    return f"Datasheet of {about.title}, {'now' if about.version is None else f'version {about.version}'}"


def _asked(request: ProjectRequest, dataset: str, version: str) -> tuple[Dataset, DatasetVersion | None]:
    if version == NOW:
        rows = Dataset.objects.in_project(request.project).select_related("project")
        dataset_row = get_object_or_404(rows, slug=dataset)
        settle_due(project=request.project)
        return dataset_row, None
    frozen = version_of(request, dataset, version)
    return frozen.dataset, frozen


def _file(text: str, kind: str, sheet: Datasheet, ending: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    name = f"{sheet.about.name.replace('@', '-')}-datasheet.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
