"""Read the names that fields, columns, codes and addresses had before. All that is written has the new names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, QueryDict

from toolevals.json_types import JsonMapping

# Old name -> new name, of fields in documents and in the query of an address, and of columns in files.
OLD_NAMES: Final[Mapping[str, str]] = {
    "subject": "agent",
    "subject_id": "agent_id",
    "subjects": "agents",
    "floor": "baseline_agent",
    "floors": "baseline_agents",
}

# Field -> old code -> new code, of values that documents and stored rows hold.
OLD_CODES: Final[Mapping[str, Mapping[str, str]]] = {
    "connector": {"floor": "baseline_agent"},
    "slug": {"_floors": "_baseline_agents"},
}

# What an address was behind its project -> what it is now.
OLD_ADDRESSES: Final[Mapping[str, str]] = {
    r"subjects(?=/|\.csv$)": r"agents",
    r"(datasets/[^/]+/versions/[^/]+)/floors(?=/$|\.csv$)": r"\1/baseline-agents",
}
_PROJECT: Final = re.compile(r"/p/[^/]+/|/api/v1/projects/[^/]+/")
_MOVED: Final = [(re.compile(old), new) for old, new in OLD_ADDRESSES.items()]


def with_new_names(document: JsonMapping) -> dict[str, Any]:
    """Return a document with the new names of its own fields and codes; an old name next to its new one stays."""
    return {
        OLD_NAMES[name] if name in OLD_NAMES and OLD_NAMES[name] not in document else name: _new_code(name, value)
        for name, value in document.items()
    }


class OldNamesMiddleware:
    """Sends an old address to the new one, and reads the old names in the query of any."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (path := _path(request.path_info)) != request.path_info:
            request.path = f"{settings.PATH_PREFIX}{path}"
            return _moved(request.get_full_path())
        if any(name in OLD_NAMES for name in request.GET):
            given = with_new_names(dict(request.GET.lists()))
            request.GET = QueryDict(urlencode(given, doseq=True))
        return self.get_response(request)


def _new_code(name: str, value: Any) -> Any:
    return OLD_CODES[name].get(value, value) if name in OLD_CODES and isinstance(value, str) else value


def _path(path: str) -> str:
    """Return what a path is now."""
    project = _PROJECT.match(path)
    if project is None:
        return path
    rest = path[project.end() :]
    for old, new in _MOVED:
        if found := old.match(rest):
            return f"{project[0]}{found.expand(new)}{rest[found.end() :]}"
    return path


def _moved(address: str) -> HttpResponse:
    """Answer with the new address; a request that brings something brings it there."""
    response = HttpResponsePermanentRedirect(address)
    response.status_code = HTTPStatus.PERMANENT_REDIRECT
    return response
