"""Make the tables of an app in one step of a migration, which a new installation waits for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from django.apps import apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """Make the tables that an app has after these migrations, each named by app and name, in order.

    Django makes all model classes that refer to each other again after each operation of a migration. For a hundred
    models that takes far longer than all statements; here it makes them once. Data is no matter: there is none yet.
    """

    category = OperationCategory.ADDITION

    def __init__(self, replaced: Sequence[tuple[str, str]]) -> None:
        self.replaced = replaced

    @cached_property
    def models(self) -> list[CreateModel]:
        """Return the models as the last of the migrations leaves them."""
        state = ProjectState()
        for app_label, name in self.replaced:
            module = import_module(f"{apps.get_app_config(app_label).name}.migrations.{name}")
            state = module.Migration(name, app_label).mutate_state(state, preserve=False)
        return [
            CreateModel(model.name, list(model.fields.items()), model.options, model.bases, model.managers)
            for model in state.models.values()
        ]

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # The classes made before are given up, so that the state makes all of them at their next use.
        state.__dict__.pop("apps", None)
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create the tables of {len(self.replaced)} migrations"
