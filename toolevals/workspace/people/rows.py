"""Find every row that names a person, by the rules of `toolevals.settings.people`; write them down, and let go of them.

A row names a person by a column that points to them, or by their name or address in a text that the application wrote.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import IO, Any
from zipfile import ZipFile

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models import Q
from django.utils.module_loading import import_string

from toolevals.grading.values.canonical import exact
from toolevals.workspace.exporting import archive, rows_write
from toolevals.workspace.fields import DocumentField
from toolevals.workspace.models import AuditEntry, User

DELETED, NULLED, KEPT = "deleted", "nulled", "kept"


def person_columns() -> Iterator[models.ForeignKey[Any, Any]]:
    """Yield every column of every table that points to a person."""
    for model in apps.get_models():
        for column in model._meta.concrete_fields:
            if isinstance(column, models.ForeignKey) and column.related_model is User:
                yield column


def column_name(column: models.Field[Any, Any]) -> str:
    """Return the name of a column, as the rules have it."""
    return f"{column.model._meta.label_lower}:{column.name}"


def rule_of(column: models.Field[Any, Any]) -> str:
    """Return what becomes of rows whose column points to a deleted person. Raises `ImproperlyConfigured`."""
    try:
        return settings.PERSON_ROWS[column_name(column)]
    except KeyError:
        raise ImproperlyConfigured(f"{column_name(column)} has no rule in toolevals/settings/people.py") from None


def rows_let_go(person: User) -> None:
    """Delete the rows that are the person's alone, and null what waits for someone else, as the rules say."""
    ruled = [(rule_of(column), column) for column in person_columns()]
    for rule, column in ruled:
        named = column.model._base_manager.filter(**{column.name: person.pk})
        if rule == NULLED:
            named.update(**{column.name: None})
        elif rule == DELETED:
            named.delete()


def texts_rewrite(before: User, name: str, email: str) -> None:
    """Write another name and address where the application has written a person's into texts."""
    for column in _text_columns():
        rows = column.model._base_manager
        if isinstance(column, DocumentField):
            for pk, document in rows.filter(_says(column, before)).values_list("pk", column.name):
                rows.filter(pk=pk).update(**{column.name: _rewritten(document, before, name, email)})
        else:
            rows.filter(**{f"{column.name}__iexact": before.email}).update(**{column.name: email})
            rows.filter(**{column.name: before.name}).update(**{column.name: name})


def person_export(person: User, file: IO[bytes]) -> None:
    """Write every row that names a person into a ZIP, a file of JSON lines for each table.

    What the person must not read yet is left out: acts that are withheld until an example is decided.
    """
    by_model: dict[type[models.Model], Q] = defaultdict(Q)
    by_model[User] = Q(pk=person.pk)
    for column in person_columns():
        by_model[column.model] |= Q(**{column.name: person.pk})
    for text in _text_columns():
        by_model[text.model] |= _says(text, person)
    by_model[AuditEntry] |= Q(target_id=person.pk) | Q(detail__contains=str(person.pk))
    with archive(file) as opened:
        opened.writestr("README.txt", _README)
        for model, named in by_model.items():
            _write(opened, model, named, person)


def _write(opened: ZipFile, model: type[models.Model], named: Q, person: User) -> None:
    rows = model._base_manager.filter(named)
    if model is AuditEntry:
        for path in settings.AUDIT_WITHHELD:
            rows = rows.exclude(import_string(path)(person))
    rows_write(opened, rows)


_README = """Every row of this toolevals installation that names one person.

Each file holds the rows of one table, a JSON object a line, under the names of its columns. Columns that end in _id
hold the ids of other rows. Times are in UTC. Passwords, digests of tokens and links, and sealed secrets are left out.
"""


def _text_columns() -> Iterator[models.Field[Any, Any]]:
    for name in settings.PERSON_TEXTS:
        label, _, column = name.partition(":")
        yield apps.get_model(label)._meta.get_field(column)


def _says(column: models.Field[Any, Any], person: User) -> Q:
    """Return the condition that a column holds a person's name or address."""
    if isinstance(column, DocumentField):
        written = exact(person.name)[1:-1]
        return Q(**{f"{column.name}__contains": written}) | Q(**{f"{column.name}__icontains": person.email})
    return Q(**{column.name: person.name}) | Q(**{f"{column.name}__iexact": person.email})


def _rewritten(value: Any, before: User, name: str, email: str) -> Any:
    if isinstance(value, dict):
        return {key: _rewritten(each, before, name, email) for key, each in value.items()}
    if isinstance(value, list):
        return [_rewritten(each, before, name, email) for each in value]
    if value == before.name:
        return name
    if isinstance(value, str):
        return re.sub(rf"(?<![\w.+-]){re.escape(before.email)}(?![\w-])", email, value, flags=re.IGNORECASE)
    return value
