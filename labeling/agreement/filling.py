"""Write down the answers of labels that have not been read yet. Made from what never changes."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from labeling.agreement.comparing import changeable_from
from labeling.agreement.reading import read_label
from labeling.models import Dataset, Label, LabelReading
from labeling.querysets.labels import LabelQuerySet
from toolevals.workspace.jobs import Lease

AT_ONCE = 500


def unread(dataset: Dataset) -> LabelQuerySet:
    """Return the labels that count for agreement, can no longer be changed, and have not been read."""
    return Label.objects.blind_firsts_in(dataset, changeable_from(dataset)).filter(reading=None)


def labels_read(dataset: Dataset, lease: Lease | None = None) -> int:
    """Read the labels that have not been read, a page in each transaction; return how many were read."""
    done, last = 0, None
    while page := _page(dataset, last):
        rows = []
        for pk, answer, expectation in page:
            read = read_label(answer, expectation)
            rows.append(LabelReading(label_id=pk, tool=read.tool, meaning=read.meaning, arguments=dict(read.arguments)))
        with lease.transaction() if lease else transaction.atomic():
            LabelReading.objects.bulk_create(rows, ignore_conflicts=True)
        done, last = done + len(page), page[-1][0]
    return done


def _page(dataset: Dataset, after: UUID | None) -> list[tuple[UUID, str, dict[str, object] | None]]:
    rows = unread(dataset).filter(pk__gt=after) if after else unread(dataset)
    return list(rows.order_by("pk").values_list("pk", "answer", "expectation")[:AT_ONCE])
