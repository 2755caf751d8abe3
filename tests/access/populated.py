"""A world in which every model has a row, so that every state of it can be shown."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date
from typing import Any

from django.db import models

from labeling.models import CalibrationAnswer, ProposedExample
from tests.access import (
    labeling_arguments,
    registry_arguments,
    reports_arguments,
    runs_arguments,
    traces_arguments,
    workspace_arguments,
)
from tests.access.states import Model, columns, own_models
from tests.access.world import World
from tests.labeling.rows import NO_CALL
from toolevals.runs.models import Episode, JudgeCount, JudgedCase, TryoutCase
from toolevals.workspace.clock import database_now
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import AuditOpening, Role

# Made as people make them; each address of the walk finds these, and makes what else it names.
MADE: tuple[Callable[[World], Any], ...] = (
    runs_arguments.a_graded_run,
    lambda world: runs_arguments.a_calibration(world, world.owner),
    lambda world: runs_arguments.a_rereading(world, world.owner),
    lambda world: runs_arguments.a_drift(world, world.owner),
    lambda world: runs_arguments.a_tryout(world, world.owner),
    lambda world: runs_arguments.a_probing(world, world.owner),
    lambda world: runs_arguments.a_look_plan(world, world.owner),
    lambda world: runs_arguments.a_simulator(world, world.owner),
    lambda world: reports_arguments.a_gate(world, world.owner),
    lambda world: reports_arguments.an_issue(world, world.owner),
    lambda world: reports_arguments.a_named_gate(world, world.owner),
    lambda world: reports_arguments.a_gate_preview(world, world.owner),
    lambda world: reports_arguments.a_measurement(world, world.owner),
    lambda world: reports_arguments.a_candidate(world, world.owner),
    lambda world: reports_arguments.a_bundle(world, world.owner),
    lambda world: reports_arguments.a_suspect(world, world.owner),
    lambda world: reports_arguments.a_score(world, world.owner),
    lambda world: reports_arguments.a_source(world, world.owner),
    lambda world: labeling_arguments.a_label_of(world, world.people[Role.REVIEWER]),
    lambda world: labeling_arguments.an_export(world, world.owner),
    lambda world: labeling_arguments.an_import(world, world.owner),
    lambda world: labeling_arguments.a_calibration(world, world.owner),
    lambda world: labeling_arguments.a_batch(world, world.owner),
    lambda world: registry_arguments.a_policy(world, world.owner),
    lambda world: traces_arguments.a_trace(world, world.owner),
    lambda world: traces_arguments.a_promotion(world, world.owner),
    lambda world: traces_arguments.a_schedule(world, world.owner),
    lambda world: workspace_arguments.a_token(world, world.owner),
    lambda world: workspace_arguments.a_secret(world, world.owner),
    lambda world: workspace_arguments.a_webhook(world, world.owner),
)
# What a column of a row that nothing above makes holds, where its type does not say it.
HELD: dict[Model, dict[str, Any]] = {
    CalibrationAnswer: {"expectation": NO_CALL},
    JudgeCount: {"rubric": "task_completion"},
    ProposedExample: {"tool": "get_order", "parameter": "/verbose", "kind": "currency"},
    TryoutCase: {"questions": [{"conversation": {"messages": []}, "tools": [], "done": []}]},
}
# Models whose rows are a part of what another row holds: no row of theirs can be made alone. No opening outlives its
# transaction.
LEFT: tuple[Model, ...] = (AuditOpening, Episode, JudgedCase)
SAID: dict[type[models.Field[Any, Any]], Callable[[], Any]] = {
    DocumentField: dict,
    models.BooleanField: lambda: False,
    models.DateTimeField: database_now,
    models.DateField: date.today,
    models.BinaryField: lambda: b"",
    models.UUIDField: uuid.uuid4,
    models.IntegerField: lambda: 1,
    models.FloatField: lambda: 0.5,
    models.EmailField: lambda: "walk@example.org",
    models.TextField: lambda: "walk",
    models.CharField: lambda: "walk",
}


def populate(world: World) -> None:
    """Make a row of every model."""
    for make in MADE:
        make(world)
    for model in own_models():
        if model not in LEFT:
            a_row(model)


def a_row(model: Model) -> models.Model:
    """Return a row of the model; where there is none, make one of what its columns ask for."""
    found = model._base_manager.first()
    if found is not None:
        return found
    values = {}
    for column in columns(model):
        if column.name in HELD.get(model, {}):
            values[column.name] = HELD[model][column.name]
        elif not column.has_default() and not column.auto_created:
            values[column.name] = _held(model, column)
    made = model(**values)
    model._base_manager.bulk_create([made])
    return made


def _held(model: Model, column: models.Field[Any, Any]) -> Any:
    if isinstance(column, models.ForeignKey):
        return None if column.related_model is model else a_row(column.related_model)
    if column.flatchoices:
        return column.flatchoices[0][0]
    return next((make() for kind, make in SAID.items() if isinstance(column, kind)), None if column.null else "walk")
