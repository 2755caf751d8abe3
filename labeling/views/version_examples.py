"""Show what a frozen version holds: its examples with their gold, as a list and as CSV."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.conversation.input_text import snippet
from labeling.expectations.wording import summary
from labeling.models import Example, GoldSource, VersionEntry
from labeling.querysets.datasets import EntryQuerySet
from labeling.views.versions import version_of
from toolevals.grading.values.canonical import exact
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.requests import ProjectRequest, whole_number

LIST_SIZE = 100
AT_ONCE = 500
CHOICES = ("q", "tool", "source", "changed", *Example.STRATA)
CSV = ("position", "example", "external_id", "revision", "gold", "source", "expectation", "rationale", *Example.STRATA)


@require_GET
def version_examples(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show what a version holds, filtered by what the address says, in the version's own order."""
    version_row = version_of(request, dataset, version)
    chosen = _asked(request)
    start = whole_number(request.GET.get("from", "")) or 0
    rows = _chosen(VersionEntry.objects.of_version(version_row), chosen)
    shown = list(rows.with_everything().filter(position__gte=start)[: LIST_SIZE + 1])
    kept = request.GET.copy()
    kept.pop("from", None)
    following = shown[LIST_SIZE].position if len(shown) > LIST_SIZE else None
    context = {
        "dataset": version_row.dataset,
        "here": "versions",
        "version": version_row,
        "rows": [
            (entry, snippet(entry.revision.input), summary(entry.gold.expectation)) for entry in shown[:LIST_SIZE]
        ],
        "query": kept.urlencode(),
        "following": following,
        "chosen": [(name, value) for name, value in chosen.items() if value and name != "q"],
        "q": chosen["q"],
        "is_filtered": any(chosen.values()),
    }
    return render(request, "labeling/version_examples.html", context)


@require_GET
def version_examples_csv(request: ProjectRequest, dataset: str, version: str) -> StreamingHttpResponse:
    """Send what a version holds, filtered like the list."""
    version_row = version_of(request, dataset, version)
    chosen = _asked(request)
    rows = _chosen(VersionEntry.objects.of_version(version_row), chosen)
    return csv_file(f"{version_row.dataset.slug}-{version_row.number}-examples", CSV, _lines(rows))


def _asked(request: ProjectRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "") for name in CHOICES}


def _chosen(entries: EntryQuerySet, chosen: dict[str, str]) -> EntryQuerySet:
    rows = entries.named_like(chosen["q"].strip()[:200]).in_strata(chosen)
    if chosen["tool"]:
        rows = rows.expecting(chosen["tool"])
    if chosen["source"] in GoldSource.values:
        rows = rows.filter(gold__source=chosen["source"])
    return rows.replaced() if chosen["changed"] else rows


def _lines(rows: EntryQuerySet) -> Iterator[list[Cell]]:
    for entry in rows.with_everything().iterator(chunk_size=AT_ONCE):
        example, gold = entry.revision.example, entry.gold
        yield [
            entry.position,
            str(example.pk),
            example.external_id,
            str(entry.revision_id),
            str(gold.pk),
            gold.source,
            exact(gold.expectation),
            gold.rationale,
            *(example.strata.get(name, "") for name in Example.STRATA),
        ]
