"""Reads tools of the Model Context Protocol, as `tools/list` answers them, with or without the JSON-RPC envelope.

Source: the protocol's specification, revision 2025-11-25, "Tools" and the schema of `Tool` and `ToolAnnotations`.
Only what a server says of itself is kept: its hints have defaults there, ours are unknown where nothing was said.
"""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.specs.drafts import Draft, Drafts, draft_of, entries_of, not_carried, schema_in
from toolevals.grading.values.problems import Problem

_KNOWN = frozenset({"name", "title", "description", "inputSchema", "outputSchema", "annotations"})
_HINTS = {"readOnlyHint": "read_only", "destructiveHint": "destructive", "idempotentHint": "idempotent"}


def read_mcp(document: Any) -> Drafts:
    """Read the result of `tools/list`, the message that carries it, or its list of tools."""
    root = ""
    if isinstance(document, dict) and isinstance(document.get("result"), dict):
        document, root = document["result"], "/result"
    rest = document.get("nextCursor") if isinstance(document, dict) else None
    for place, (where, entry) in enumerate(entries_of(document)):
        draft = draft_of(entry, root + where, _read)
        if rest and not place and isinstance(draft, Draft):
            draft.losses.append(Problem(f"{root}/nextCursor", "the list goes on: read the further pages too"))
        yield draft


def _read(entry: dict[str, Any], where: str) -> Draft:
    hints = entry.get("annotations")
    losses = not_carried(entry, _KNOWN, where)
    native: dict[str, Any] = {
        "name": entry.get("name"),
        "description": entry.get("description") or "",
        "input_schema": schema_in(entry, "inputSchema", _KNOWN, where, required=True),
    }
    origins = {"/input_schema": f"{where}/inputSchema", "/output_schema": f"{where}/outputSchema"}
    if entry.get("outputSchema") is not None:
        native["output_schema"] = entry["outputSchema"]
    if isinstance(hints, dict):
        known = frozenset({*_HINTS, "title"})
        losses += not_carried(hints, known, f"{where}/annotations")
        native["annotations"] = {ours: hints[theirs] for theirs, ours in _HINTS.items() if theirs in hints}
        origins |= {f"/annotations/{ours}": f"{where}/annotations/{theirs}" for theirs, ours in _HINTS.items()}
        title = entry.get("title") or hints.get("title")
    else:
        title = entry.get("title")
    if title:
        native["title"] = title
    return Draft(where, native, losses, origins)
