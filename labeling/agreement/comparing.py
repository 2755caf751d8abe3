"""Read the labels that are compared."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.db.models import Case, Exists, F, Max, OuterRef, Q, Value, When

from labeling.agreement.all_pairs import PairFigures, pair_figures
from labeling.agreement.filters import Filters
from labeling.agreement.reading import tool_said
from labeling.agreement.units import RatedLabel, Unit, units_in
from labeling.models import Adjudication, Dataset, GoldSource, Label, LabelAnswer, Revision
from labeling.querysets.labels import LabelQuerySet
from toolevals.workspace.clock import database_now

# Gold that someone decided on, instead of the labels.
DECIDED = (GoldSource.ADJUDICATED, GoldSource.SECOND_LOOK, GoldSource.RESTORED)
READ_AT_ONCE = 500
COLUMNS = (
    "pk",
    "revision_id",
    "slot__round",
    "reviewer_id",
    "reading__tool",
    "reading__meaning",
    "reading__arguments",
    "created_at",
    "seconds",
    "decided_otherwise",
)


def units_of(dataset: Dataset, filters: Filters, revisions: Iterable[UUID] | None = None) -> list[Unit]:
    """Return a dataset's units; of some revisions only, where they are given. What is not read yet is left out."""
    rows = _labels(dataset, filters)
    if revisions is not None:
        rows = rows.filter(revision__in=list(revisions))
    return units_in(map(RatedLabel._make, rows.values_list(*COLUMNS)), filters)


def changeable_from(dataset: Dataset) -> datetime:
    """Return the time since when a label may still be changed."""
    return database_now() - timedelta(seconds=dataset.project.undo_seconds)


def pairs_of(dataset: Dataset) -> PairFigures:
    """Return the figures of all pairs of first labels of a dataset. What is not read yet is left out."""
    until = changeable_from(dataset)
    firsts = Label.objects.blind_firsts_in(dataset, until).filter(reading__isnull=False).order_by()
    labels = [RatedLabel._make((*row, None)) for row in firsts.values_list(*COLUMNS[:-1])]
    later = Label.objects.filter(slot__dataset=dataset, is_first=False).order_by()
    changed = later.values_list("revision_id", "slot__round", "reviewer_id").annotate(Max("created_at"))
    return pair_figures(labels, {(pk, number, who): at for pk, number, who, at in changed}, until)


def decided_tools(revisions: Iterable[UUID]) -> dict[UUID, str]:
    """Return the tool choice of what an adjudicator decided on, by revision; of those of `revisions` that are decided.

    Costs no more than these revisions, however large their dataset is.
    """
    set_aside = Exists(Adjudication.objects.filter(revision=OuterRef("pk"), withdrawn_at=None))
    decided = Revision.objects.resolved().filter(Q(gold__source__in=DECIDED) | Q(set_aside, gold=None))
    left, found = iter(revisions), {}
    while some := list(islice(left, READ_AT_ONCE)):
        rows = decided.filter(pk__in=some).order_by()
        for pk, answer, document in rows.values_list("pk", "set_aside_as", "gold__expectation"):
            found[pk] = tool_said(answer or LabelAnswer.EXPECTATION, document)
    return found


def _labels(dataset: Dataset, filters: Filters) -> LabelQuerySet:
    rows = Label.objects.compared_in(dataset).filter(reading__isnull=False).in_strata(filters.strata)
    if filters.guideline is not None:
        rows = rows.filter(guideline=filters.guideline)
    decided = Q(feedback__gold__source__in=DECIDED) | Q(feedback__gold=None, feedback__adjudication__isnull=False)
    told = Case(When(decided, then=F("feedback__differs")), default=Value(None))
    annotated: LabelQuerySet = rows.annotate(decided_otherwise=told).order_by()
    return annotated
