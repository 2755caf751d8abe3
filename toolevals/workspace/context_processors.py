"""What every page needs to know about the project it is in."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def workspace(request: HttpRequest) -> dict[str, Any]:
    """Return the project and the role of the person who asks; both None outside a project."""
    return {"project": getattr(request, "project", None), "role": getattr(request, "role", None)}
