"""Gives one answer: how it ends, and whether its connection stays open behind it."""

from __future__ import annotations

from waitress.task import WSGITask

CLOSE = "close"


class Answer(WSGITask):  # type: ignore[misc]
    """An answer of the application.

    waitress closes a connection behind each answer without a `Content-Length`. Those that have no body (204, 304) and
    those in chunks say themselves where they end, so another request may follow. One that breaks off is closed still.
    """

    version: str
    close_on_finish: bool
    _writes_head = False

    def build_response_header(self) -> bytes:
        """Return the status line and the headers."""
        self._writes_head = True
        try:
            return bytes(super().build_response_header())
        finally:
            self._writes_head = False

    def set_close_on_finish(self) -> None:
        """Close the connection behind this answer, unless it need not be."""
        if not (self._writes_head and self._says_its_end()):
            super().set_close_on_finish()

    def _says_its_end(self) -> bool:
        if self.version != "1.1" or self.request.headers.get("CONNECTION", "").lower() == CLOSE:
            return False
        # The end of the chunks would be taken for the next answer, as a HEAD has none.
        return self.request.command != "HEAD" or not self.chunked_response
