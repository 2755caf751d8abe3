"""Serves lists in pages, newest first, by a cursor: page one and page ten thousand cost the same."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView


class NewestFirst(CursorPagination):
    """Pages by the sortable public id."""

    ordering = "-id"
    page_size = 100
    page_size_query_param = "limit"
    max_page_size = 1000

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any] | None:
        self._model = queryset.model
        return super().paginate_queryset(queryset, request, view)

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return where a page begins. Raises NotFound where what the cursor holds is no id."""
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None:
            try:
                self._model._meta.get_field(self.ordering[0].removeprefix("-")).to_python(cursor.position)
            except ValidationError:
                raise NotFound(self.invalid_cursor_message) from None
        return cursor
