"""Show what a person works through: one batch, one dataset, or everything in the project."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, QueryDict
from django.shortcuts import get_object_or_404

from labeling.models import Dataset, LabelBatch
from labeling.queue.label_page_queries import dataset_called
from toolevals.workspace.requests import ProjectRequest

BATCH = "batch:"


@dataclass(frozen=True, slots=True)
class Scope:
    """`dataset` is the batch's where there is a batch; both None: everything."""

    dataset: Dataset | None = None
    batch: LabelBatch | None = None

    @property
    def key(self) -> str:
        """The scope as the page's form carries it; empty for everything."""
        if self.batch is not None:
            return f"{BATCH}{self.batch.pk}"
        return self.dataset.slug if self.dataset else ""

    @property
    def query(self) -> str:
        """The scope as an address carries it, with its question mark; empty for everything."""
        if self.batch is not None:
            return f"?batch={self.batch.pk}"
        return f"?dataset={self.dataset.slug}" if self.dataset else ""


EVERYTHING = Scope()


def scope_key(data: QueryDict) -> str:
    """Return the scope that an address or a form names, unread."""
    batch = data.get("batch", "")
    return f"{BATCH}{batch}" if batch else data.get("dataset") or data.get("scope") or ""


def scope_of(request: ProjectRequest, data: QueryDict) -> Scope:
    """Return the scope that an address or a form names. Raises Http404 for what is not in the project."""
    key = scope_key(data)
    if key.startswith(BATCH):
        try:
            pk = UUID(key.removeprefix(BATCH))
        except ValueError as error:
            raise Http404 from error
        rows = LabelBatch.objects.in_project(request.project).select_related("dataset__project")
        batch = get_object_or_404(rows, pk=pk)
        return Scope(batch.dataset, batch)
    if not key:
        return Scope()
    dataset = dataset_called(request.project, key)
    if dataset is None:
        raise Http404
    return Scope(dataset)
