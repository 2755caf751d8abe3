"""The kinds of jobs that there are, read from the calls that make them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAKER = "job_create"
PACKAGES = ("toolevals", "labeling", "reports")


def kinds() -> list[str]:
    """Return every kind that the product gives a job."""
    files = (path.read_text() for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted({kind for text in files if MAKER in text for kind in _in(ast.parse(text))})


def _in(module: ast.Module) -> Iterator[str]:
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        for target in ([node.target] if isinstance(node, ast.AnnAssign) else node.targets)
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == MAKER:
            [kind] = [word.value for word in call.keywords if word.arg == "kind"]
            yield from _values(kind, constants)


def _values(value: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    if isinstance(value, ast.IfExp):
        yield from _values(value.body, constants)
        yield from _values(value.orelse, constants)
    elif isinstance(value, ast.Name):
        yield from _values(constants[value.id], constants)
    else:
        assert isinstance(value, ast.Constant), f"a kind that is not written out: {ast.unparse(value)}"
        yield str(value.value)
