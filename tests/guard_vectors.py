"""Read the questions and decisions that every door of the guard is asked alike: the core, REST, the SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("guard_vectors.json").read_text())
POLICY: dict[str, Any] = VECTORS["policy"]
TOOLS: list[dict[str, Any]] = VECTORS["tools"]
CASES: list[dict[str, Any]] = VECTORS["cases"]


def name_of(case: dict[str, Any]) -> str:
    """Return the name of a case."""
    return str(case["name"])
