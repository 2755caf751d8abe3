"""Serve the operators' tables in the REST interface, to who shows the operator's token."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from reports.operations.table import TABLES
from toolevals.workspace.tables import serializer_of

# Of each table.
MOST_ROWS: Final = 1000


def _tables_serializer() -> type[serializers.Serializer[Any]]:
    """Return the serializer of all tables, each a list."""
    parts: dict[str, Any] = {name: serializer_of(table)(many=True) for name, (table, _) in TABLES.items()}
    doc = "The tables of the operators' page, each with its first thousand rows."
    return type("OperationsSerializer", (serializers.Serializer,), {"__doc__": doc, "__module__": __name__, **parts})


OperationsSerializer: Final = _tables_serializer()


class Operations(APIView):
    """Workers, queues, lost leases, failed and running jobs, storage, slow queries."""

    @extend_schema(operation_id="operations", responses=OperationsSerializer)
    def get(self, request: Request) -> Response:
        rows = {name: list(islice(read(), MOST_ROWS)) for name, (_, read) in TABLES.items()}
        return Response(OperationsSerializer(rows).data)
