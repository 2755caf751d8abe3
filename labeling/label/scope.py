"""Tell what a person works through, one batch, one dataset or everything in the project, and what stands at its end."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, QueryDict
from django.shortcuts import get_object_or_404

from labeling.agreement.cache import agreement_counted
from labeling.agreement.figures import BLOCK
from labeling.agreement.filters import Filters
from labeling.agreement.report import Figure, in_percent
from labeling.home import waiting
from labeling.label.open_tasks import handed_in_today, to_calibrate
from labeling.label.queries import dataset_called, own_counts
from labeling.models import CalibrationRound, Dataset, LabelBatch, LabelSlot, SlotState, SpareLabel
from labeling.second_looks.pending_second_looks import looks_due
from toolevals.json_types import JsonObject
from toolevals.workspace.navigation import counted
from toolevals.workspace.requests import ProjectRequest

BATCH = "batch:"


# The agreement of so many datasets is told, the newest first.
MOST_DATASETS = 3


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


@dataclass(frozen=True, slots=True)
class Agreed:
    """The share of pairs of first labels of a dataset with the same tool; None before there is a full block."""

    dataset: Dataset
    figure: Figure | None


def end_context(request: ProjectRequest, scope: Scope, first: CalibrationRound | None) -> JsonObject:
    """Return what the page shows where no example waits; `first`: the calibration round that comes before any."""
    where, user = scope.dataset or request.project, request.user
    handed_in = own_counts(where, user)[1]
    spares = SpareLabel.objects.in_project(request.project).filter(reviewer=user)
    if scope.dataset is not None:
        spares = spares.filter(revision__example__dataset=scope.dataset)
    return {
        "place": scope,
        "handed_in": handed_in,
        "today": handed_in_today(where, user),
        "spare": spares.count(),
        "agreed": [] if first or not handed_in else _agreed(request, scope),
        "block": BLOCK,
        "next": [each for each in waiting(request.project, request.role, counted(request)) if each.count],
        "left": 0 if first else counted(request)["to_label"],
        "first": first,
        "calibration": to_calibrate(request.project, user),
        "looks": len(looks_due(request.project, user)),
        "scope": scope.key,
    }


def _agreed(request: ProjectRequest, scope: Scope) -> list[Agreed]:
    """Return the agreement of the datasets that this person has labelled in, as the Agreement page counts it."""
    own = LabelSlot.objects.filter(reviewer=request.user, state=SlotState.SUBMITTED).values("dataset")
    labelled = Dataset.objects.in_project(request.project).filter(pk__in=own).select_related("project").order_by("-id")
    datasets = [scope.dataset] if scope.dataset else labelled[:MOST_DATASETS]
    return [Agreed(dataset, _figure(request, dataset)) for dataset in datasets]


def _figure(request: ProjectRequest, dataset: Dataset) -> Figure | None:
    agreement = agreement_counted(dataset, Filters(), actor=request.user).agreement
    pairs = agreement.pairs if agreement else None
    return in_percent(pairs.tool.percent) if pairs and pairs.counted else None
