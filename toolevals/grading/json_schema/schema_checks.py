"""Tell whether a call breaks the input schema of its tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from toolevals.grading.json_schema.conformance import validator_of
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument


class SchemaGate:
    """The schema of one tool. `is_known` is false without a tool, and where no one can check by its schema."""

    def __init__(self, tool: ToolSpec | None) -> None:
        self._validator = None if tool is None else validator_of(tool)
        self.is_known = tool is not None

    def breaks(self, arguments: Mapping[str, Any]) -> bool | None:
        """Tell whether arguments break the schema; None where there is none, or their check may take too long."""
        if self._validator is None:
            return None
        try:
            return not self._validator.is_valid(arguments)
        except InvalidDocument:
            return None


NO_SCHEMA = SchemaGate(None)


@lru_cache(maxsize=4096)
def schema_gate(tool: ToolSpec) -> SchemaGate:
    """Return the gate of a tool's schema; NO_SCHEMA where the schema is bad."""
    try:
        return SchemaGate(tool)
    except InvalidDocument:
        return NO_SCHEMA
