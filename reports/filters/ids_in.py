"""Filter cases by their ids, however many: no database takes a list of a million parameters."""

from __future__ import annotations

import json
from collections.abc import Collection
from uuid import UUID

from django.db import connections
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from toolevals.runs.models import CaseGrade


def among(cases: QuerySet[CaseGrade], ids: Collection[UUID]) -> QuerySet[CaseGrade]:
    """Return those of `cases` with these ids, which are sent as one parameter.

    It is one text, of 33 characters an id on PostgreSQL: a list costs the driver several objects for each.
    """
    if connections[cases.db].vendor == "postgresql":
        listed = ",".join(each.hex for each in ids)
        return cases.filter(pk__in=RawSQL("SELECT unnest(%s::uuid[])", [f"{{{listed}}}"]))
    return cases.filter(pk__in=RawSQL("SELECT value FROM json_each(%s)", [json.dumps([each.hex for each in ids])]))
