"""Show a dataset's frozen versions: list them, freeze one, describe one, and show what one holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from labeling.conversation.turns import snippet
from labeling.coverage.cache import datasets_counted
from labeling.datasets.forms import DescribeForm, FreezeForm
from labeling.errors import InvalidAct
from labeling.expectations.wording import summary
from labeling.models import Dataset, DatasetVersion, Example, GoldSource, VersionEntry
from labeling.versions import services
from labeling.versions.changes import CHANGES, KINDS, VersionDiff
from labeling.versions.models import EntryQuerySet
from toolevals.grading.values.canonical import exact
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest, whole_number

VERSIONS: Final = ("version_id", "version", "examples", "note", "tags", "actor_id", "actor", "created_at")


LIST_SIZE = 100
AT_ONCE = 500
CHOICES = ("q", "tool", "source", "changed", *Example.STRATA)
EXAMPLES_CSV = (
    "position",
    "example",
    "external_id",
    "revision",
    "gold",
    "source",
    "expectation",
    "rationale",
    *Example.STRATA,
)


def version_lines(versions: Iterable[DatasetVersion]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version that was read with who froze it."""
    for version in versions:
        who = (version.actor.pk, version.actor.name) if version.actor else (None, None)
        yield version.pk, version.number, version.size, version.note, " ".join(version.tags), *who, version.created_at


@require_http_methods(["GET", "POST"])
def versions(request: ProjectRequest, dataset: str) -> HttpResponse:
    """List the frozen versions, newest first; by POST, freeze one."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project), slug=dataset)
    form = FreezeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.version_freeze(dataset=dataset_row, actor=request.user, **form.cleaned_data)
            address = reverse("labeling:versions", args=[request.project.slug, dataset_row.slug])
            return redirect(f"{address}?frozen={made.number}")
        except InvalidAct as error:
            form.add_error(None, str(error))
    datasets_counted([dataset_row], actor=request.user)
    rows = dataset_row.versions.select_related("actor")
    context = {
        "dataset": dataset_row,
        "here": "versions",
        "form": form,
        "page": page_of(rows, request.GET.get("before", "")),
        "frozen": _frozen(request, dataset_row),
    }
    return render(request, "labeling/versions.html", context, status=409 if form.errors else 200)


@require_GET
def versions_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    dataset_row = get_object_or_404(Dataset.objects.in_project(request.project), slug=dataset)
    rows = rows_of(dataset_row.versions.select_related("actor"))
    return csv_file(f"{dataset_row.slug}-versions", VERSIONS, version_lines(rows))


@require_http_methods(["GET", "HEAD", "POST"])
def version_describe(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Change the note and the tags of a frozen version."""
    version_row = version_of(request, dataset, version)
    form = DescribeForm(request.POST or None, initial={"note": version_row.note, "tags": " ".join(version_row.tags)})
    context = {
        "dataset": version_row.dataset,
        "here": "versions",
        "version": version_row,
        "form": form,
        "is_taken": False,
    }
    if request.method == "POST" and form.is_valid():
        try:
            services.version_describe(
                version=version_row, actor=request.user, **form.cleaned_data, move="move" in request.POST
            )
            return redirect("labeling:versions", request.project.slug, version_row.dataset.slug)
        except InvalidAct as error:
            form.add_error("tags", str(error))
            context["is_taken"] = True
    status = 409 if context["is_taken"] else 422 if form.errors else 200
    return render(request, "labeling/version_describe.html", context, status=status)


@require_GET
def version_changes(request: ProjectRequest, dataset: str, version: str) -> HttpResponse:
    """Show what changed since an earlier version, or any other: by default the one before."""
    diff = _diff(request, dataset, version)
    counts = diff.counts()
    kind = request.GET.get("kind", "")
    if kind not in KINDS:
        kind = next((name for name, count in counts.items() if count), "added")
    rows, following = diff.page(kind, _cursor(request), user=request.user, role=request.role)
    lists, more_lists = diff.lists() if counts["tools"] else ([], 0)
    context = {
        "dataset": diff.after.dataset,
        "here": "versions",
        "diff": diff,
        "counts": [(name, words, counts[name]) for name, words in KINDS.items()],
        "kind": kind,
        "kind_words": KINDS[kind],
        "rows": rows,
        "next": following,
        "lists": lists,
        "more_lists": more_lists,
        "strata": diff.strata(),
        "versions": diff.after.dataset.versions.values_list("number", flat=True)[:50],
    }
    return render(request, "labeling/version_changes.html", context)


@require_GET
def version_changes_csv(request: ProjectRequest, dataset: str, version: str) -> StreamingHttpResponse:
    """Send every change, or those of one kind."""
    diff = _diff(request, dataset, version)
    kind = request.GET.get("kind", "")
    name = f"{diff.after.dataset.slug}-{diff.before.number}-{diff.after.number}-changes"
    return csv_file(name, CHANGES.head, diff.lines(kind if kind in KINDS else ""))


def _frozen(request: ProjectRequest, dataset: Dataset) -> DatasetVersion | None:
    """Return the version that was just frozen, as the address says it."""
    number = whole_number(request.GET.get("frozen", ""))
    return None if number is None else dataset.versions.filter(number=number).first()


def _diff(request: ProjectRequest, dataset: str, version: str) -> VersionDiff:
    """Return the comparison that is asked for; the first version, which has none before it, is compared with itself."""
    after = version_of(request, dataset, version)
    since = request.GET.get("since", "")
    if since:
        return VersionDiff(version_of(request, dataset, since), after)
    before = after.dataset.versions.filter(number__lt=after.number).first()
    return VersionDiff(before or after, after)


def _cursor(request: ProjectRequest) -> int:
    return whole_number(request.GET.get("from", "")) or 0


def version_of(request: ProjectRequest, dataset: str, version: str) -> DatasetVersion:
    """Return the frozen version that an address names by number or tag. Raises Http404."""
    rows = DatasetVersion.objects.in_project(request.project).filter(dataset__slug=dataset)
    found = rows.select_related("dataset__project", "dataset__default_tools__registry", "actor").called(version)
    if found is None:
        raise Http404
    return found


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
    return csv_file(f"{version_row.dataset.slug}-{version_row.number}-examples", EXAMPLES_CSV, _lines(rows))


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
