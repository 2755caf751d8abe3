"""Compresses pages and answers, except those that show a secret.

The length of a compressed answer tells whether two parts of it are alike. Someone who can send a text that the answer
repeats, and who measures lengths, guesses a secret in it piece by piece (BREACH). The token against forged forms is
masked again in each answer, so its pieces never repeat; other secrets stand as they are, and their answers go out as
they are.
"""

from __future__ import annotations

from typing import TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django_http_compression.middleware import HttpCompressionMiddleware

_Answer = TypeVar("_Answer", bound=HttpResponseBase)
_MARK = "shows_secret"


def shows_secret(answer: _Answer) -> _Answer:
    """Return the answer, marked as one that shows a token, a link or another secret: it is not compressed."""
    setattr(answer, _MARK, True)
    return answer


class CompressionMiddleware(HttpCompressionMiddleware):
    """Compresses with zstd, brotli or gzip, as the client takes it. What is streamed stays a stream."""

    def maybe_compress(self, request: HttpRequest, response: HttpResponseBase) -> None:
        """Compress the answer in place unless it shows a secret."""
        if not getattr(response, _MARK, False):
            super().maybe_compress(request, response)
