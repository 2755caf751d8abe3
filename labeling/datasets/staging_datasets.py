"""Keep waiting datasets: they hold what is written in parts, unseen, in a project without members."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Q
from uuid_utils.compat import uuid7

from labeling.models import Dataset, DatasetVersion, Example, Revision, VersionEntry
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.models import Project

# Rows in one transaction: some hundred milliseconds, so that labelling hardly waits.
AT_ONCE = 2000
PROJECT = "--arriving"
# A version takes minutes to be written; one that has not been shown for so long was left by a process that died.
FROZEN_WITHIN = timedelta(hours=2)
_OVER, _FREEZING = "over-", "freezing-"


def waiting_dataset(name: str, slug: str) -> Dataset:
    """Return the waiting dataset of this slug; `name` is for people who look into the database."""
    project, _ = Project.objects.get_or_create(slug=PROJECT, defaults={"name": "On the way into datasets"})
    found, _ = Dataset.objects.get_or_create(project=project, slug=slug, defaults={"name": name})
    return found


def waiting_found(slug: str) -> Dataset | None:
    """Return the waiting dataset of this slug, if there is one."""
    return Dataset.objects.filter(project__slug=PROJECT, slug=slug).first()


def waiting_give_up(waiting: Dataset) -> None:
    """Let nothing find a waiting dataset any more but the sweeper, which takes away what is still in it."""
    Dataset.objects.filter(pk=waiting.pk).update(slug=f"{_OVER}{uuid7()}")


@contextmanager
def freezing_dataset(dataset: Dataset) -> Iterator[Dataset]:
    """Give a dataset in which a version of another one waits; what is not moved away from it is swept."""
    waiting = waiting_dataset(dataset.name, f"{_FREEZING}{uuid7()}")
    try:
        yield waiting
    finally:
        waiting_give_up(waiting)


def waiting_sweep(now: datetime, until: float = float("inf")) -> int:
    """Delete, some at a time, what was given up, until a moment of the monotonic clock; return how many rows went."""
    over = Q(slug__startswith=_OVER) | Q(slug__startswith=_FREEZING, created_at__lt=now - FROZEN_WITHIN)
    removed = 0
    for waiting in Dataset.objects.filter(over, project__slug=PROJECT).order_by("pk"):
        entries = VersionEntry.objects.filter(version__dataset=waiting).order_by("pk").values_list("pk", flat=True)
        examples = Example.objects.filter(dataset=waiting).order_by("pk").values_list("pk", flat=True)
        while monotonic() < until and (some := list(entries[:AT_ONCE])):
            removed += VersionEntry.objects.filter(pk__in=some).delete()[0]
            others_write_first()
        while monotonic() < until and (some := list(examples[:AT_ONCE])):
            examples_delete(some)
            removed += len(some)
            others_write_first()
        if monotonic() >= until:
            return removed
        DatasetVersion.objects.filter(dataset=waiting).delete()
        waiting.delete()
    return removed


@transaction.atomic
def examples_delete(examples: list[Any]) -> None:
    """Delete examples that no one has seen, with their revisions and gold."""
    Example.objects.filter(pk__in=examples).update(current=None)
    Revision.objects.filter(example__in=examples).update(gold=None)
    Example.objects.filter(pk__in=examples).delete()
