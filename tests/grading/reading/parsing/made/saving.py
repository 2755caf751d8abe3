# mypy: ignore-errors
"""Write a document beside the scripts, with the library's name and version, and without ids and moments."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

_MOMENT = re.compile(r'"\d{4}-\d\d-\d\dT[^"]*"')
_SECONDS = re.compile(r"\b1[789]\d{8}\.\d+\b")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def save(name, library, document, release=None):
    """Write `NAME.json`: `{"made_by": "LIBRARY VERSION", "document": ...}`, an item a line."""
    made_by = json.dumps(f"{library} {release or version(library)}")
    lines = ",\n".join(map(json.dumps, document)) if isinstance(document, list) else json.dumps(document)
    inner = f"[\n{lines}\n]" if isinstance(document, list) else lines
    text = f'{{"made_by": {made_by}, "document": {inner}}}\n'
    text = _SECONDS.sub("1767225600.0", _MOMENT.sub('"2026-01-01T00:00:00Z"', text))
    text = _UUID.sub("00000000-0000-0000-0000-000000000000", text)
    json.loads(text)
    (Path(__file__).parent / f"{name}.json").write_text(text, "utf-8")
