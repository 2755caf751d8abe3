"""Answers of a server that is not there, for the command line."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from email.message import Message
from typing import Any

from toolevals.client.http import Request, Response, json_bytes


def answer(
    status: int = 200, *, json: Any = None, text: str = "", headers: Mapping[str, str] | None = None
) -> Callable[[Request], Response]:
    """Return what makes an answer to any request, ever again."""
    said = Message()
    for name, value in (headers or {}).items():
        said[name] = value
    body = json_bytes(json) if json is not None else text.encode()
    return lambda request: Response(request, status, said, io.BytesIO(body))  # type: ignore[arg-type]
