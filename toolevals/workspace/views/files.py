"""Sending stored files."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import StreamingHttpResponse

from toolevals.workspace.models import Upload


def stored_response(upload: Upload) -> StreamingHttpResponse:
    """Return a stored file, opened when it is read; its name is made of slugs and numbers."""
    return StreamingHttpResponse(
        _chunks(upload),
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{upload.name}"',
            "Content-Length": str(upload.size),
        },
    )


def _chunks(upload: Upload) -> Iterator[bytes]:
    with upload.file.open("rb") as file:
        yield from file.chunks()
