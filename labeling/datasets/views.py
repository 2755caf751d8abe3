"""Show pages of datasets: the list, one dataset's examples, its description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Value
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.adjudicate.resolution import settle_due
from labeling.coverage.cache import LARGE_FRESH, coverage_kept, datasets_counted, is_large
from labeling.datasets.forms import DatasetForm, NewDatasetForm, ShownStrataForm
from labeling.datasets.services import dataset_create, dataset_update, strata_show
from labeling.examples.listing import SORT_MOST, ExampleList, asked_of, query_of
from labeling.examples.models import ExampleQuerySet
from labeling.examples.rows import EXAMPLES_CSV, LOOK_AT, example_lines, example_rows, strata_choices
from labeling.examples.told import MOST_LABELS, Reader
from labeling.guidelines.blocks import guideline_blocks
from labeling.models import Dataset, Example, Resolution, SavedView
from toolevals.presentation.csv import Cell
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Role, User
from toolevals.workspace.paging import page_of, pages_of
from toolevals.workspace.requests import ProjectRequest

# What `seen_by` adds to examples.
STATUS = "status"


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
    """Show one dataset's examples, filtered and sorted by what the address says."""
    dataset_row = _dataset(request, dataset)
    settle_due(project=request.project)
    found = _list(request, dataset_row)
    large = is_large(dataset_row)
    page = found.page(request.GET.get("before", ""), request.GET.get("page", ""), large=large)
    asked = dict(found.asked)
    is_newest = asked["sort"] in ("", "-added") or found.is_too_long_to_sort
    more = {"before" if is_newest else "page": page.older}
    strata = strata_choices(dataset_row, asked, request.role, most=LOOK_AT if large else None)
    # A stratum that this reader is not offered is not repeated to them either.
    unknown = set(Example.STRATA) - {each["name"] for each in strata}
    views, people = _views_and_people(request)
    context = {
        "dataset": dataset_row,
        "here": "examples",
        "page": page,
        "rows": example_rows(page.rows, found.reader.told(page.rows, found.wanted(page.rows))),
        "older_url": f"?{query_of(asked | more)}",
        "chosen": asked,
        "is_filtered": found.is_filtered,
        "sort": "-added" if is_newest else asked["sort"],
        "too_long": found.is_too_long_to_sort and SORT_MOST,
        "query": query_of({name: value for name, value in asked.items() if name not in unknown}),
        "views": views,
        "people": people,
        "numbers": [str(number) for number in range(MOST_LABELS + 1)],
        **(_counts_kept(dataset_row, request.user) if large else _counts(found.every)),
        "strata": strata,
    }
    return render(request, "labeling/dataset.html", context)


@require_GET
def dataset_csv(request: ProjectRequest, dataset: str) -> StreamingHttpResponse:
    """Send the same list, all of it, the newest first."""
    dataset_row = _dataset(request, dataset)
    settle_due(project=request.project)
    found = _list(request, dataset_row)
    return csv_file(f"{dataset_row.slug}-examples", EXAMPLES_CSV, _lines(found))


@dataclass(frozen=True, slots=True)
class Choice:
    """A view that one has saved, or a person."""

    pk: UUID
    name: str
    query: str


def _views_and_people(request: ProjectRequest) -> tuple[list[Choice], list[Choice]]:
    """Return one's saved views, the oldest first, and the project's members by name: one statement."""
    views = SavedView.objects.filter(project=request.project, user=request.user).order_by()
    people = request.project.members.order_by().values_list("pk", "name", Value(""))
    found = [Choice(*row) for row in views.values_list("pk", "name", "query").union(people, all=True)]
    saved = sorted((each for each in found if each.query), key=lambda each: each.pk)
    return saved, sorted((each for each in found if not each.query), key=lambda each: each.name)


def _list(request: ProjectRequest, dataset: Dataset) -> ExampleList:
    return ExampleList(dataset, Reader(request.user, request.role), asked_of(request.GET))


def _lines(found: ExampleList) -> Iterator[tuple[Cell, ...]]:
    for rows in pages_of(found.rows().with_content()):
        yield from example_lines(rows, found.reader.told(rows, found.wanted(rows)), found.reader.role)


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
    rows = Dataset.objects.in_project(request.project).select_related("default_tools__registry")
    dataset = get_object_or_404(rows, slug=slug)
    dataset.project = request.project
    return dataset


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
