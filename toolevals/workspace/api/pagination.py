"""Lists come in pages, newest first, by a cursor: page one and page ten thousand cost the same."""

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """Pages by the sortable public id."""

    ordering = "-id"
    page_size = 100
    page_size_query_param = "limit"
    max_page_size = 1000
