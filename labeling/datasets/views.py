"""Show pages of datasets: the list, one dataset's examples, its description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.adjudicate.resolution import settle_due
from labeling.coverage.cache import LARGE_FRESH, coverage_kept, datasets_counted, is_large
from labeling.coverage.table import Cell as CoverageCell
from labeling.datasets.forms import DatasetForm, NewDatasetForm, ShownStrataForm
from labeling.datasets.services import dataset_create, dataset_update, strata_show
from labeling.examples.models import ExampleQuerySet
from labeling.examples.rows import EXAMPLES_CSV, LOOK_AT, example_lines, example_rows, strata_choices
from labeling.examples.shown_strata import hidden_strata
from labeling.guidelines.blocks import guideline_blocks
from labeling.models import Dataset, Example, GoldSource, Resolution
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Role, User
from toolevals.workspace.paging import Page, page_of, pages_of, rows_of, sought_page_of
from toolevals.workspace.requests import ProjectRequest

# What `seen_by` adds to examples.
STATUS = "status"
LIST_SIZE = 100
CHOICES = ("q", "status", "covers", "tool", "gold", "source", *Example.STRATA)


DATASETS: Final = (
    "dataset_id",
    "dataset",
    "name",
    "description",
    "size",
    "with_gold",
    "counted_at",
    "default_tools",
    "created_at",
)


@require_http_methods(["GET", "POST"])
def datasets(request: ProjectRequest) -> HttpResponse:
    """List the project's datasets, the newest first; by POST, add one."""
    form = NewDatasetForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        dataset = dataset_create(project=request.project, actor=request.user, **form.cleaned_data)
        return redirect("labeling:import", request.project.slug, dataset.slug)
    page = page_of(Dataset.objects.in_project(request.project), request.GET.get("before", ""))
    context = {"datasets": datasets_counted(page.rows, actor=request.user), "page": page, "form": form}
    return render(request, "labeling/datasets.html", context)


@require_GET
def datasets_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the datasets, the newest first."""
    pages = pages_of(Dataset.objects.in_project(request.project))
    rows = (row for page in pages for row in datasets_counted(page, actor=request.user))
    return csv_file("datasets", DATASETS, dataset_lines(rows))


@require_GET
def dataset(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show one dataset's examples, filtered by what the address says."""
    dataset_row = _dataset(request, dataset)
    settle_due(project=request.project)
    every = Example.objects.of_dataset(dataset_row).seen_by(request.user, request.role)
    chosen = _chosen(request)
    rows = _filtered(every, chosen, dataset_row, request.role)
    page = _page(rows.with_content(), every, chosen, request.GET.get("before", ""))
    large = is_large(dataset_row)
    kept = request.GET.copy()
    kept.pop("before", None)
    context = {
        "dataset": dataset_row,
        "here": "examples",
        "page": page,
        "rows": example_rows(page.rows),
        "older_url": f"?{kept.urlencode()}&before={page.older}" if kept else f"?before={page.older}",
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
        **(_counts_kept(dataset_row, request.user) if large else _counts(every)),
        "strata": strata_choices(dataset_row, chosen, request.role, most=LOOK_AT if large else None),
    }
    return render(request, "labeling/dataset.html", context)


@require_GET
def dataset_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the same list, all of it."""
    dataset_row = _dataset(request, dataset)
    settle_due(project=request.project)
    every = Example.objects.of_dataset(dataset_row).seen_by(request.user, request.role)
    rows = _filtered(every, _chosen(request), dataset_row, request.role).with_content()
    return csv_file(f"{dataset_row.slug}-examples", EXAMPLES_CSV, example_lines(rows_of(rows), request.role))


@require_http_methods(["GET", "POST"])
def settings(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show what is said about a dataset; by POST, by adjudicators, change it."""
    dataset_row = _dataset(request, dataset)
    initial = {
        name: getattr(dataset_row, name) for name in ("name", "description", "guideline", "default_tools", "decided_by")
    }
    form = DatasetForm(request.POST or None, initial=initial, project=request.project)
    if request.method == "POST" and form.is_valid():
        try:
            dataset_update(dataset=dataset_row, actor=request.user, **form.cleaned_data)
            return redirect("labeling:dataset-settings", request.project.slug, dataset_row.slug)
        except ValidationError as error:
            form.add_error(None, error)
    blocks = guideline_blocks(dataset_row.guideline)
    strata_form = ShownStrataForm(initial={"strata": dataset_row.shown_strata}) if request.role >= Role.OWNER else None
    context = {
        "dataset": dataset_row,
        "here": "settings",
        "form": form,
        "guideline": blocks,
        "strata_form": strata_form,
    }
    return render(request, "labeling/dataset_settings.html", context)


@require_POST
def shown_strata(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Change which strata reviewers see of examples that are still to label."""
    dataset_row = _dataset(request, dataset)
    form = ShownStrataForm(request.POST)
    if form.is_valid():
        strata_show(dataset=dataset_row, actor=request.user, strata=form.cleaned_data["strata"])
        messages.info(request, "The strata that reviewers see are saved.")
    else:
        messages.error(request, f"The strata were not saved: {' '.join(map(str, form.errors['strata']))}")
    return redirect("labeling:dataset-settings", request.project.slug, dataset_row.slug)


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.in_project(request.project), slug=slug)


def _chosen(request: ProjectRequest) -> dict[str, str]:
    """Return which examples the address asks for."""
    return {name: request.GET.get(name, "") for name in CHOICES}


def _filtered(examples: ExampleQuerySet, chosen: dict[str, str], dataset: Dataset, role: Role) -> ExampleQuerySet:
    cell, hidden = CoverageCell.of_address(chosen), hidden_strata(dataset, role)
    rows = examples.named_like(chosen["q"].strip()[:200]).in_strata(chosen, hidden=hidden)
    rows = cell.examples(rows, hidden=hidden) if cell else rows
    rows = rows.with_gold_from(chosen["source"]) if chosen["source"] in GoldSource.values else rows
    return rows.in_status(chosen["status"], role) if chosen["status"] in Resolution.values else rows


def _page(rows: ExampleQuerySet, every: ExampleQuerySet, chosen: dict[str, str], before: str) -> Page[Example]:
    """Return a page of what `_filtered` found; by nothing but a part of an id, as what no index finds in order."""
    if [name for name, value in chosen.items() if value] == ["q"]:
        return sought_page_of(rows, every, before, LIST_SIZE)
    return page_of(rows, before, LIST_SIZE)


def _counts(examples: ExampleQuerySet) -> dict[str, Any]:
    """Return how many examples there are of each status that this person is told, all together first."""
    found = dict(examples.order_by().values_list(*(STATUS,)).annotate(n=Count("pk")))
    counts = [{"key": key, "title": title, "count": found[key]} for key, title in Resolution.choices if key in found]
    return {"counts": [{"key": "", "title": "all", "count": sum(found.values())}, *counts]}


def _counts_kept(dataset: Dataset, user: User) -> dict[str, Any]:
    """Return what was counted of a large dataset a while ago, as everyone is told it; nothing before that."""
    kept = coverage_kept(dataset, actor=user, fresh=LARGE_FRESH)
    if kept.counts is None:
        return {"counts": []}
    told = {"open": kept.counts.waiting, "resolved": kept.counts.gold, "set_aside": kept.counts.set_aside}
    counts = [{"key": key, "title": Resolution(key).label, "count": count} for key, count in told.items() if count]
    every = {"key": "", "title": "all", "count": kept.counts.size}
    return {"counts": [every, *counts], "counted_at": kept.counted_at}


def dataset_lines(datasets: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each dataset that was counted."""
    for dataset in datasets:
        tools = str(dataset.default_tools) if dataset.default_tools else None
        counts = dataset.size, dataset.with_gold, dataset.counted_at
        yield dataset.pk, dataset.slug, dataset.name, dataset.description, *counts, tools, dataset.created_at
