"""Read bodies that are a file of JSON Lines."""

from __future__ import annotations

from typing import Any

from rest_framework.parsers import FileUploadParser


class JsonLinesParser(FileUploadParser):
    """Takes the whole body as one file, streamed to disk; everything else about it stands in the query."""

    media_type = "application/jsonl"

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return the name that the sender gives in Content-Disposition, or a plain one."""
        return super().get_filename(stream, media_type, parser_context) or "predictions.jsonl"


class NdjsonParser(JsonLinesParser):
    """The same under its other name."""

    media_type = "application/x-ndjson"


class BytesParser(JsonLinesParser):
    """The same under the name that generated clients know."""

    media_type = "application/octet-stream"
