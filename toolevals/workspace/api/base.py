"""Show what every API view within a project stands on, and serve its lists in pages."""

from __future__ import annotations

from typing import Any, cast

from django.core.exceptions import ValidationError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.requests import ProjectRequest


class ProjectView(APIView):
    """A view whose request has passed the access middleware: `project`, `role` and `user` are known."""

    @property
    def access(self) -> ProjectRequest:
        """The request as the middleware left it."""
        return cast("ProjectRequest", self.request)

    @property
    def project(self) -> Project:
        return self.access.project

    @property
    def role(self) -> Role:
        return self.access.role

    @property
    def user(self) -> User:
        return self.access.user


class NewestFirst(CursorPagination):
    """Pages by the sortable public id, newest first: page one and page ten thousand cost the same."""

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
