"""Reads the bodies of requests to the REST interface."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import BaseParser, FileUploadParser

from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping
from toolevals.workspace.old_names import with_new_names

CHUNK = 1 << 20


class StrictJsonParser(BaseParser):
    """Reads a body as JSON by the rules of files: no key twice, no number beyond a float, no nesting without end.

    It is no `JSONParser`, which the framework lets read through Django's limit for forms: a document has
    `DOCUMENT_MAX_BYTES`, as it is held in memory, unlike a file.
    """

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: JsonMapping | None = None) -> Any:
        """Return the value. Raises Problems: 413 with the limit, or 400 with the place in the body."""
        # The REST framework loads this module while it loads its views, on which that one stands.
        from toolevals.workspace.api.problems import Problems

        limit = settings.DOCUMENT_MAX_BYTES
        length = int(parser_context["request"].META.get("CONTENT_LENGTH") or 0) if parser_context else 0
        if length > limit:
            # Its sender reads the answer only after all of it is gone.
            while stream.read(CHUNK):
                pass
            title = f"The document has {length:,} bytes; the limit is {limit:,}."
            raise Problems(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, title)
        try:
            document = load_json(stream.read(), max_bytes=limit)
        except InvalidDocument as error:
            raise Problems(HTTPStatus.BAD_REQUEST, "The body cannot be read as JSON.", error.problems) from None
        return with_new_names(document) if isinstance(document, dict) else document


class WholeBodyParser(FileUploadParser):
    """Takes the whole body as one file, streamed to disk; everything else about it stands in the query."""

    name = ""

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return the name that the sender gives in Content-Disposition, or a plain one."""
        return super().get_filename(stream, media_type, parser_context) or self.name


def file_parsers(names: Mapping[str, str]) -> tuple[type[WholeBodyParser], ...]:
    """Return the parsers of bodies that are a file, by media type -> the name of one that has none."""
    return tuple(
        type("FileParser", (WholeBodyParser,), {"media_type": media_type, "name": name})
        for media_type, name in names.items()
    )


# JSON Lines: under both their names, and under the one that generated clients know.
JSON_LINES = ("application/jsonl", "application/x-ndjson", "application/octet-stream")
