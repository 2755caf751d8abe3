"""Show the queue of a dataset, its order and its batches, for whom work is kept, and how a project labels."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from labeling.batches import services
from labeling.batches.forms import AssignForm, BatchForm, LabellingForm, NewBatchForm, OrderForm
from labeling.batches.ordering import order_set
from labeling.batches.overlap import Overlap, labelling_set
from labeling.batches.services import batch_create, batch_update, slots_assign, slots_unassign
from labeling.errors import InvalidAct
from labeling.models import Dataset, Example, LabelBatch
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job, Role
from toolevals.workspace.paging import page_of
from toolevals.workspace.requests import ProjectRequest


@require_http_methods(["GET", "POST"])
def labelling_settings(request: ProjectRequest) -> HttpResponse:
    """Show and change how many people label each example, and how they work."""
    form = LabellingForm.of(request.project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        job = labelling_set(project=request.project, actor=request.user, **form.settings)
        say_job(request, job, "The settings are saved.")
        return redirect("labeling:labelling-settings", request.project.slug)
    return render(request, "labeling/labelling_settings.html", {"form": form}, status=422 if form.errors else 200)


def say_job(request: ProjectRequest, job: Job | None, done: str) -> None:
    """Tell that something is done, or that a job is doing it."""
    messages.info(request, f"{done} Open examples follow in a job: see Jobs." if job is not None else done)


@require_http_methods(["GET", "POST"])
def queue(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Show a dataset's order and batches; by POST, by adjudicators, make a batch."""
    dataset_row = _dataset(request, dataset)
    asked = {name: request.GET[name] for name in Example.STRATA if name in request.GET}
    may = request.role >= Role.ADJUDICATOR
    form = NewBatchForm(request.POST or None, dataset=dataset_row, initial=asked) if may else None
    if request.method == "POST" and form is not None and form.is_valid():
        try:
            made = batch_create(dataset=dataset_row, actor=request.user, choice=form.choice, **form.said)
            return redirect("labeling:batch", request.project.slug, dataset_row.slug, made.pk)
        except InvalidAct as error:
            form.add_error(None, str(error))
    context = {
        "dataset": dataset_row,
        "here": "queue",
        "form": form,
        "order_form": OrderForm(initial={"order": dataset_row.order, "order_seed": dataset_row.order_seed}),
        "overlap": Overlap.of(request.project),
        "page": page_of(dataset_row.batches.with_progress().select_related("owner"), request.GET.get("before", "")),
        "today": timezone.localdate(database_now()),
    }
    return render(request, "labeling/queue.html", context, status=422 if form is not None and form.errors else 200)


@require_POST
def queue_order(request: ProjectRequest, dataset: str) -> HttpResponse:
    """Change the order of a dataset's queue."""
    dataset_row = _dataset(request, dataset)
    form = OrderForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        job = order_set(dataset=dataset_row, actor=request.user, order=data["order"], seed=data["order_seed"])
        say_job(request, job, "The queue order is saved.")
    else:
        messages.error(request, "The order was not changed: " + _words(form))
    return redirect("labeling:queue", request.project.slug, dataset_row.slug)


@require_http_methods(["GET", "POST"])
def batch(request: ProjectRequest, dataset: str, batch: UUID) -> HttpResponse:
    """Show how far a batch is; by POST, by adjudicators, change what is said about it."""
    batch_row = _batch(request, dataset, batch)
    may_change = request.role >= Role.ADJUDICATOR and batch_row.closed_at is None
    initial = {name: getattr(batch_row, name) for name in ("name", "owner", "due_on", "note")}
    form = (
        BatchForm(request.POST or None, initial=initial, dataset=batch_row.dataset, batch=batch_row)
        if may_change
        else None
    )
    if request.method == "POST" and form is not None and form.is_valid():
        batch_update(batch=batch_row, actor=request.user, **form.said)
        return redirect("labeling:batch", request.project.slug, batch_row.dataset.slug, batch_row.pk)
    context = {
        "dataset": batch_row.dataset,
        "here": "queue",
        "batch": batch_row,
        "form": form,
        "assign_form": AssignForm(batch=batch_row) if may_change else None,
        "today": timezone.localdate(database_now()),
    }
    return render(request, "labeling/batch.html", context, status=422 if form is not None and form.errors else 200)


@require_POST
def batch_close(request: ProjectRequest, dataset: str, batch: UUID) -> HttpResponse:
    """End a batch."""
    batch_row = _batch(request, dataset, batch)
    services.batch_close(batch=batch_row, actor=request.user)
    messages.info(request, "The batch is closed. Examples that still need labels are back in the shared queue.")
    return redirect("labeling:batch", request.project.slug, batch_row.dataset.slug, batch_row.pk)


@require_POST
def batch_assign(request: ProjectRequest, dataset: str, batch: UUID) -> HttpResponse:
    """Keep examples of a batch for one person, or for this person no more."""
    batch_row = _batch(request, dataset, batch)
    form = AssignForm(request.POST, batch=batch_row)
    if not form.is_valid():
        messages.error(request, "Nothing was assigned: " + _words(form))
    else:
        person = form.cleaned_data["person"]
        is_taken_back = "unassign" in request.POST
        act = slots_unassign if is_taken_back else slots_assign
        try:
            count = act(
                dataset=batch_row.dataset, actor=request.user, person=person, choice=form.choice, batch=batch_row
            )
            words = "no longer kept for" if is_taken_back else "kept for"
            messages.info(request, f"{count:,} {'example is' if count == 1 else 'examples are'} {words} {person.name}.")
        except InvalidAct as error:
            messages.error(request, str(error))
    return redirect("labeling:batch", request.project.slug, batch_row.dataset.slug, batch_row.pk)


def _dataset(request: ProjectRequest, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.in_project(request.project).select_related("project"), slug=slug)


def _words(form: Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _batch(request: ProjectRequest, dataset: str, pk: UUID) -> LabelBatch:
    rows = LabelBatch.objects.in_project(request.project).with_progress()
    content = rows.select_related("owner", "dataset__project", "dataset__default_tools__registry")
    return get_object_or_404(content, dataset__slug=dataset, pk=pk)
