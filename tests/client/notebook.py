"""Runs a notebook: its code cells, one after the other, in one namespace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def run_notebook(path: Path) -> dict[str, Any]:
    """Run the cells and return what they named; an error names the cell."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = json.loads(path.read_text("utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, {cell['id']}", "exec"), namespace)
    return namespace
