"""Tell once that every example of a dataset is decided, and again only after one was open meanwhile."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from labeling.blindness import RESOLVED
from labeling.models import Dataset, Example, Gold
from toolevals.workspace.addresses import address
from toolevals.workspace.models import EventKind, MailChoice, Told, Webhook
from toolevals.workspace.notifications.events import event_note

# What was decided longer ago is no news to those who ask to be told only now.
NEWS: Final = timedelta(days=1)


def datasets_done(now: datetime) -> None:
    """Note the datasets of which the last example was decided, in projects where anyone asks for that."""
    asked = {hook.project_id for hook in Webhook.objects.filter(is_on=True) if EventKind.DATASET_DONE in hook.kinds}
    choices = MailChoice.objects.select_related("membership")
    asked |= {each.membership.project_id for each in choices if EventKind.DATASET_DONE in each.kinds}
    if not asked:
        return
    examples = Example.objects.filter(dataset=OuterRef("pk"), current__isnull=False)
    is_open = Exists(examples.exclude(current__resolution__in=RESOLVED))
    done = Dataset.objects.filter(Exists(examples), ~is_open, project__in=asked).select_related("project")
    found = {dataset.pk: dataset for dataset in done.order_by("pk")}
    told = Told.objects.filter(kind=EventKind.DATASET_DONE, project__in=asked)
    told.exclude(subject__in=found).delete()
    for pk in found.keys() - set(told.values_list("subject", flat=True)):
        _tell(found[pk], now)


@transaction.atomic
def _tell(dataset: Dataset, now: datetime) -> None:
    _, is_new = Told.objects.get_or_create(project=dataset.project, kind=EventKind.DATASET_DONE, subject=dataset.pk)
    newest = Gold.objects.filter(revision__example__dataset=dataset).aggregate(at=Max("created_at"))["at"]
    if not is_new or newest is None or newest < now - NEWS:
        return
    size = Example.objects.filter(dataset=dataset, current__isnull=False).count()
    event_note(
        project=dataset.project,
        kind=EventKind.DATASET_DONE,
        summary=f"Every example of {dataset.name} is decided: {size:,}",
        path=address("labeling:dataset", dataset.project.slug, dataset.slug),
        facts={"dataset": dataset.slug, "examples": size},
    )
