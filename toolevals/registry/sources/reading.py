"""Read the tools that a source lists, by the address policy of all outgoing calls."""

from __future__ import annotations

import time
from typing import Final

import httpx2

from toolevals.agents.network import ANSWER_BYTES, AnswerRefusedError, ForbiddenAddressError, guarded_client, too_long
from toolevals.agents.options import McpOptions
from toolevals.grading.reading.specs import Choice, ReadTools, document_in, read_tools
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.large_documents import MAX_UNPACKED
from toolevals.registry.mcp_servers import mcp_access, mcp_tools
from toolevals.registry.sources.models import SourceKind, ToolSource
from toolevals.workspace.models import Project

# Of an OpenAPI document, from the call to its last byte.
MOST_SECONDS: Final = 20.0
_SUCCESS: Final = 200


def source_read(source: ToolSource) -> ReadTools:
    """Return the tools that a source lists now. Raises InvalidDocument where they can't be had, or there is none."""
    project, place = source.registry.project, source.place
    if source.kind == SourceKind.MCP:
        read = read_tools(mcp_tools(project, place), format="mcp")
    else:
        document = document_in(_document(project, place), max_bytes=MAX_UNPACKED)
        read = read_tools(document, format="openapi", choice=Choice(tags=frozenset(source.tags)))
    if not read.tools:
        raise InvalidDocument.at("", "lists no tool. That is taken for a fault, and not for tools that were removed")
    return read


def _document(project: Project, place: McpOptions) -> bytes:
    """Return what an address answers. No redirect is followed: it would lead past what was checked."""
    access = mcp_access(project, place)
    headers = {"Authorization": f"Bearer {access['key']}"} if access["key"] else {}
    until = time.monotonic() + MOST_SECONDS
    try:
        with (
            guarded_client(access["policy"], seconds=min(place.timeout, MOST_SECONDS)) as client,
            client.stream("GET", place.url, headers=headers) as answer,
        ):
            if answer.status_code != _SUCCESS:
                words = " Redirects are not followed: give the last address." if answer.is_redirect else ""
                raise InvalidDocument.at("/url", f"answered with status {answer.status_code}.{words}")
            return _read_until(answer, until)
    except (ForbiddenAddressError, AnswerRefusedError) as error:
        raise InvalidDocument.at("/url", str(error)) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise InvalidDocument.at("/url", f"can't be read: {type(error).__name__} {error}".strip()) from None


def _read_until(answer: httpx2.Response, until: float) -> bytes:
    content = bytearray()
    for part in answer.iter_bytes():
        content += part
        if len(content) > ANSWER_BYTES:
            raise too_long("The document")
        if time.monotonic() > until:
            raise InvalidDocument.at("/url", f"did not send its document within {MOST_SECONDS:.0f} seconds")
    return bytes(content)
