"""Show the datasheet of a frozen version, or of what the dataset holds now: page, Markdown, JSON.

Markdown is CommonMark with GitHub's tables. People's text stays text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.adjudicate.resolution import settle_due
from labeling.datasheet.gathering import datasheet_of
from labeling.datasheet.sections import Cell, Links, Section, Table, sections_of
from labeling.datasheet.values import Datasheet
from labeling.models import Dataset, DatasetVersion
from labeling.versions.models import NOW
from labeling.versions.views import version_of
from toolevals.workspace.requests import ProjectRequest

# Whatever begins markup, a tag, an entity or an address: CommonMark lets any ASCII punctuation be escaped.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&@!$^]|:(?=\S)|(?<=www)\.")
_BEGINS = re.compile(r"^(?:[-+=]|\d+(?=[.)](?: |$)))")


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


def escaped(text: str) -> str:
    """Return a text as one line of Markdown that reads as it is: no markup, HTML, link or control character."""
    plain = "".join(" " if char.isspace() else char for char in text if not _is_hidden(char))
    line = _MARKUP.sub(r"\\\g<0>", re.sub(" +", " ", plain).strip())
    if (begin := _BEGINS.match(line)) is None:
        return line
    at = begin.end() if line[0].isdigit() else 0
    return f"{line[:at]}\\{line[at:]}"


def markdown_lines(title: str, sections: Sequence[Section]) -> Iterator[str]:
    """Yield the lines of a datasheet, each with its end."""
    yield f"# {escaped(title)}\n"
    for section in sections:
        yield f"\n## {section.title}\n\n"
        for fact in section.facts:
            yield f"- **{escaped(fact.title)}**: {_parts(fact.parts)}\n"
        for table in section.tables:
            yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"\n### {escaped(table.title)}\n\n"
    yield _row(escaped(head.text) for head in table.heads)
    yield _row("---:" if head.is_number else "---" for head in table.heads)
    for row in table.rows:
        yield _row(_linked(cell) for cell in row)
    if table.note:
        yield f"\n{escaped(table.note)}\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _parts(parts: Sequence[Cell]) -> str:
    said = ""
    for part in parts:
        text = part.text
        # Escaping trims: the space between two parts stays outside.
        before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
        said += before + _linked(part) + after
    return said


def _linked(cell: Cell) -> str:
    text = escaped(cell.text)
    return f"[{text}](<{cell.url}>)" if cell.url else text


def _is_hidden(char: str) -> bool:
    """Tell whether a character shows nothing and is no space: controls, and what turns the reading direction."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and not char.isspace()
