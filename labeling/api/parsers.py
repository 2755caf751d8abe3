"""Read bodies that are a file of examples, streamed to disk. All options are in the query."""

from __future__ import annotations

from typing import Any

from rest_framework.parsers import FileUploadParser


class JsonLinesParser(FileUploadParser):
    """Takes the whole body as one file."""

    media_type = "application/jsonl"
    name = "examples.jsonl"

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return the name that the sender gives in Content-Disposition, or a plain one."""
        return super().get_filename(stream, media_type, parser_context) or self.name


class NdjsonParser(JsonLinesParser):
    """The same under its other name."""

    media_type = "application/x-ndjson"


class BytesParser(JsonLinesParser):
    """The same under the name that generated clients know."""

    media_type = "application/octet-stream"


class CsvParser(JsonLinesParser):
    """A table."""

    media_type = "text/csv"
    name = "examples.csv"


class GzipParser(JsonLinesParser):
    """A file that is packed."""

    media_type = "application/gzip"
    name = "examples.gz"


class ZipParser(JsonLinesParser):
    """Several files in one."""

    media_type = "application/zip"
    name = "examples.zip"


class WholeJsonParser(JsonLinesParser):
    """One JSON document, such as a simulator's results."""

    media_type = "application/json"
    name = "examples.json"
