"""Reads our own tool specs, as in `schemas/tool.v1.json`."""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.specs.drafts import Draft, each_entry


def _read(entry: dict[str, Any], where: str) -> Draft:
    return Draft(where, entry)


read_native = each_entry(_read)
