"""Sends a table as a file and shows its rows in the REST interface, by the serializer that its columns make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.db.models import Model
from django.http import StreamingHttpResponse
from rest_framework import serializers

from toolevals.presentation.table import Column, Table
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.file_responses import csv_file

_FIELDS: Final[dict[type, type[serializers.Field[Any, Any, Any, Any]]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    UUID: serializers.UUIDField,
    datetime: serializers.DateTimeField,
    dict: serializers.JSONField,
}


def table_file(name: str, table: Table, items: Iterable[Any]) -> StreamingHttpResponse:
    """Return the answer that streams a table as CSV; `name` is without its ending."""
    return csv_file(name, table.head, table.rows(items))


@cache
def serializer_of(table: Table, model: type[Model] | None = None) -> type[PlainSerializer]:
    """Return the serializer of a table's rows; of a model's where columns are what the model says."""
    columns = [column for column in table.columns if column.only != "file"]
    parts: dict[str, Any] = {column.name: _field(column) for column in columns if column.type is not None}
    if model is not None:
        parts["Meta"] = type("Meta", (), {"model": model, "fields": [column.name for column in columns]})
    base = serializers.Serializer if model is None else serializers.ModelSerializer
    return type(f"{table.name}Serializer", (base,), {"__doc__": table.words, "__module__": __name__, **parts})


def _field(column: Column) -> serializers.Field[Any, Any, Any, Any]:
    options: dict[str, Any] = {"source": column.path} if column.path != column.name else {}
    options |= {"allow_null": True} if column.optional else {}
    options |= {"default": None} if column.may_lack else {}
    options |= {"read_only": True} if column.read_only else {}
    options |= {"help_text": column.words} if column.words else {}
    if column.many:
        child = _field(replace(column, value="", many="", optional=False, read_only=False, may_lack=False, words=""))
        kind = serializers.ListField if column.many == "list" else serializers.DictField
        return kind(child=child, **options)
    if isinstance(column.type, Table):
        return serializer_of(column.type)(**options)
    if isinstance(column.type, tuple):
        return serializers.ChoiceField(column.type, **options)
    assert column.type is not None
    return _FIELDS[column.type](**options)
