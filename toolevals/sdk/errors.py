"""Name what is wrong with a tool or with the set-up: raised where it is declared, never while an agent works."""

from __future__ import annotations


class ToolError(TypeError):
    """A function that cannot be a tool: says which parameter of which function, and what to write in its place."""


class SetUpError(RuntimeError):
    """Tracing that cannot be set up: a package is missing, or an address is none."""
