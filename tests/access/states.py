"""The states that rows can have, read off the models: a new one is in the walk without a word here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction

from tests.access.world import World
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Batch, BatchState, Job, JobState, Membership, User
from toolevals.workspace.trash.models import Trashable

PACKAGES = ("toolevals", "labeling", "reports")
TABLE = {"both_passed": 3, "only_judge": 1, "only_human": 0, "both_failed": 2}
CHANGES = {"stayed_passed": 3, "to_failed": 1, "to_passed": 0, "stayed_failed": 2}
REREAD = {"passed": {"right": {"1": 1}}, "failed": {}}
# What else the services write with a column: the column's name, and what holds beside it in any of its states.
BESIDE: dict[str, dict[str, Any]] = {
    "labeling.LabelSlot.state": {"priority": 0},
    "labeling.LabelSlot.priority": {"state": "closed"},
    "labeling.Revision.resolution": {"set_aside_as": "ambiguous"},
    "runs.DriftCheck.finished_at": {"counts": {"changes": CHANGES, "then": TABLE, "now": TABLE}},
    "runs.DriftCheck.counts": {"finished_at": None},
    "runs.JudgeCalibration.closed_at": {"table": TABLE},
    "runs.Rereading.closed_at": {"counts": REREAD},
    "runs.Rereading.counts": {"closed_at": None},
    "runs.Simulator.kind": {
        "content": {"results": [], "files": {"simulator.py": ""}, "tools": [], "url": "", "secret": ""}
    },
    "runs.JudgeCalibration.table": {"closed_at": None},
}
# Columns that are empty within the transaction alone that makes the row.
NEVER_MISSING = frozenset({"labeling.Example.current"})
OF_TRASH = frozenset(each.name for each in Trashable._meta.get_fields())
Model = type[models.Model]


@dataclass(frozen=True)
class Variant:
    """One state of all rows of a model: its name, the columns that make it, and of a job those of its batches."""

    name: str
    changes: Mapping[str, Any]
    batches: Mapping[str, Any] = field(default_factory=dict)

    def columns(self, model: Model) -> set[str]:
        """Return the columns that make the state, as queries name them."""
        return {column.column for column in columns(model) if column.name in self.changes}

    def apply(self, model: Model, world: World) -> bool:
        """Put every row into the state, except the account of who asks; False where the database allows no such row."""
        rows = model._base_manager.all()
        if model is User:
            rows = rows.exclude(pk=world.owner.pk)
        if model is Membership:
            rows = rows.exclude(user=world.owner)
        # Where only one row can be in the state at a time, the others make room.
        return self._put(rows) or self._put(rows, alone=True)

    def _put(self, rows: Any, *, alone: bool = False) -> bool:
        try:
            with transaction.atomic():
                if alone:
                    rows.exclude(pk=rows.first().pk).delete()
                rows.update(**self.changes)
                if self.batches:
                    Batch.objects.update(**self.batches)
        except IntegrityError:
            return False
        return True


def changing(model: Model) -> list[Variant]:
    """Return the states of a model in which its rows are not already, all of them."""
    known = variants(model)
    rows = list(model._base_manager.values(*{name for each in known for name in each.changes})) if known else []
    return [each for each in known if any(row[name] != value for row in rows for name, value in each.changes.items())]


def own_models() -> list[Model]:
    """Return the models of the product."""
    return [model for model in apps.get_models() if model.__module__.partition(".")[0] in PACKAGES]


def job_variants() -> list[Variant]:
    """Return a job's states as people meet them. Each of `JobState` is among them: see the walk."""
    now = database_now()
    working = {"state": BatchState.LEASED, "size": 10, "attempts": 1, "due_at": now + timedelta(minutes=1)}
    running = {"state": JobState.RUNNING, "finished_at": None}
    begun = running | {"pace_since": now - timedelta(minutes=2), "pace_done": 1}
    ended = {"finished_at": now, "pace_since": now - timedelta(minutes=2)}
    errors = {
        "errors": [{"line": 3, "pointer": "/id", "message": "The id is missing."}, {"line": None, "message": "!"}]
    }
    return [
        Variant("queued", running | {"pace_since": None}, {"state": BatchState.QUEUED, "done": 0, "size": 10}),
        Variant("running, young", running | {"pace_since": now}, working | {"done": 1}),
        Variant("running, at a pace", begun, working | {"done": 4}),
        Variant("running, nothing left of the stage", begun, working | {"done": 10}),
        Variant("running, and a batch failed once", begun, working | {"state": BatchState.QUEUED, "error": "Gone"}),
        Variant("paused", begun | {"state": JobState.PAUSED}, working | {"state": BatchState.QUEUED, "done": 4}),
        Variant("succeeded", ended | {"state": JobState.SUCCEEDED}, {"state": BatchState.DONE}),
        Variant(
            "failed",
            ended | {"state": JobState.FAILED, "report": errors},
            {"state": BatchState.FAILED, "error": "RuntimeError: no", "attempts": 5},
        ),
        Variant("cancelled", ended | {"state": JobState.CANCELLED}, {"state": BatchState.CANCELLED}),
    ]


@cache
def variants(model: Model) -> tuple[Variant, ...]:
    """Return the states of a model's rows that its columns tell: choices, truths, times, and what may be missing."""
    if model is Job:
        return tuple(job_variants())
    return (*_chosen(model), *_missing(model))


def _chosen(model: Model) -> Iterator[Variant]:
    for column in columns(model):
        values: list[Any] = [value for value, _ in column.flatchoices]
        if isinstance(column, models.BooleanField):
            values = [True, False]
        if isinstance(column, models.DateField) and column.null:
            values = [database_now()]
        yield from (Variant(f"{column.name}={value}", {**_beside(column), column.name: value}) for value in values)


def _missing(model: Model) -> Iterator[Variant]:
    empty = [each for each in columns(model) if each.null and _label(each) not in NEVER_MISSING]
    people = [each.name for each in empty if each.related_model is User]
    numbers = [each.name for each in empty if isinstance(each, models.FloatField | models.IntegerField)]
    for name, together in (("people", people), ("numbers", numbers)):
        if together:
            beside = {key: value for each in together for key, value in BESIDE.get(_named(model, each), {}).items()}
            yield Variant(f"{name} missing", beside | dict.fromkeys(together))
    for column in empty:
        if column.name not in (*people, *numbers):
            yield Variant(f"{column.name} missing", {**_beside(column), column.name: None})


def _beside(column: Any) -> dict[str, Any]:
    return BESIDE.get(_label(column), {})


def _label(column: Any) -> str:
    return _named(column.model, column.name)


def _named(model: Model, column: str) -> str:
    return f"{model._meta.label}.{column}"


@cache
def columns(model: Model) -> list[Any]:
    """Return a model's own columns, without those of the trash: what was deleted is walked by `test_trash_walk`."""
    fields = [each for each in model._meta.get_fields() if isinstance(each, models.Field) and each.concrete]
    return [each for each in fields if not issubclass(model, Trashable) or each.name not in OF_TRASH]
