"""A program for the web server that answers `/slow` after a second, and what it is asked for with its process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Any


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a request."""
    environ["wsgi.input"].read()
    if environ["PATH_INFO"] == "/slow":
        time.sleep(1)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
