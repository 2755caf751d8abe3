"""Defines the fields that every app's models share: public ids, documents, moments and paths."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from uuid_utils.compat import uuid7

from toolevals.grading.values.canonical import Written, exact, parse
from toolevals.path_prefix import path_below
from toolevals.workspace.clock import database_now


class PublicIdField(models.UUIDField[Any, Any]):
    """A primary key that is stable, opaque and sortable by time of creation: a UUIDv7."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(primary_key=True, default=uuid7, editable=False)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for key in ("primary_key", "default", "editable"):
            kwargs.pop(key, None)
        return name, path, args, kwargs


class DocumentField(models.TextField[Any, Any]):
    """A JSON value kept as exact text, so that key order and raw numbers are the same on every database.

    What was `Written` before is kept as it is.
    """

    # What may be assigned and what is read, for the type checker.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else parse(value)

    def to_python(self, value: Any) -> Any:
        return value

    def get_prep_value(self, value: Any) -> str | None:
        return value if value is None or type(value) is Written else exact(value)

    def value_to_string(self, obj: models.Model) -> str:
        return exact(self.value_from_object(obj))


class MomentField(models.DateTimeField[datetime, datetime]):
    """A moment that is written by itself, when its row is made or changed, by the database's clock."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        if not self.auto_now and not (self.auto_now_add and add):
            return super().pre_save(model_instance, add)
        moment = database_now()
        setattr(model_instance, self.attname, moment)
        return moment

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.DateTimeField", args, kwargs


class OwnPathField(models.CharField[str, str]):
    """A path of this application, kept without the prefix below which it is served: that may change."""

    def from_db_value(self, value: str, expression: Any, connection: Any) -> str:
        return f"{settings.PATH_PREFIX}{value}" if value else value

    def get_prep_value(self, value: Any) -> Any:
        return path_below(super().get_prep_value(value), settings.PATH_PREFIX)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs
