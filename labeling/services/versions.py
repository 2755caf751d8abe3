"""Freezing a dataset, so that runs can be made against it."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Max
from uuid_utils.compat import uuid7

from labeling.errors import InvalidAct
from labeling.models import Dataset, DatasetVersion, Revision, VersionEntry
from labeling.services.resolution import settle_due
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.models import User
from toolevals.workspace.services import audit_record


def version_freeze(*, dataset: Dataset, actor: User | None, note: str = "") -> DatasetVersion:
    """Return a version of every current revision that has gold, with the gold in force.

    If nothing has changed since the newest version, that one is returned. Raises InvalidAct where nothing has gold.
    """
    settle_due(project=dataset.project)
    with transaction.atomic():
        # One at a time: the numbers have no gap and no double.
        Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
        frozen = list(
            Revision.objects.current()
            .filter(example__dataset=dataset, gold__isnull=False)
            .order_by("example_id")
            .values_list("pk", "gold_id")
        )
        if not frozen:
            raise InvalidAct("No example of this dataset has gold yet: there is nothing to freeze.")
        newest = dataset.versions.first()
        if newest is not None and list(newest.entries.values_list("revision_id", "gold_id")) == frozen:
            return newest
        last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
        version = DatasetVersion.objects.create(
            dataset=dataset, number=last + 1, note=note.strip(), size=len(frozen), actor=actor
        )
        rows_insert(
            VersionEntry,
            ("id", "version_id", "position", "revision_id", "gold_id"),
            ((uuid7(), version.pk, place, revision, gold) for place, (revision, gold) in enumerate(frozen)),
        )
        audit_record(
            project=dataset.project,
            actor=actor,
            verb="version_freeze",
            target=version,
            detail={"dataset": dataset.slug, "number": version.number, "size": version.size},
        )
    return version
