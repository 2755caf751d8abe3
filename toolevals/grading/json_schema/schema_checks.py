"""Tell what a tool's input schema asks of a call: simple properties by plain tests, the rest by the validator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from toolevals.grading.json_schema.conformance import validator_of
from toolevals.grading.json_schema.schema_fast_path import ASK, CONFORMS, ask, conform, is_surely_valid, property_gates
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument

# Of a gate and a validator for each: tens of kilobytes where the schema is large.
_MOST_KEPT = 4_096


class SchemaGate:
    """The schema of one tool; without a tool, of one whose schema no one can check by.

    `properties` holds the gates of simple properties by name, `otherwise` is that of all others, `required` what has to
    be there. `doubt` is what is to be said before any argument is looked at: ASK where the properties' gates are not
    all there is to it.
    """

    def __init__(self, tool: ToolSpec | None) -> None:
        schema: Mapping[str, Any] = {} if tool is None else tool.input_schema
        self._tool = tool
        self.is_known = tool is not None
        self.properties = property_gates(schema, assert_formats=tool is not None and tool.assert_formats)
        self.required: frozenset[str] = frozenset(schema.get("required", ()))
        self.otherwise = conform if tool is None else ask
        self.doubt = CONFORMS if tool is None or self.properties else ASK

    def breaks(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether arguments break the schema, as the validator has it; not where their check may take too long."""
        return self.said_of(arguments) is True

    def said_of(self, arguments: Mapping[str, Any]) -> bool | None:
        """Tell whether arguments break the schema; None where there is none, or their check may take too long."""
        try:
            return None if self._is_valid is None else not self._is_valid(arguments)
        except InvalidDocument:
            return None

    @cached_property
    def _is_valid(self) -> Callable[[Any], bool] | None:
        # A validator is made when it is first asked: most calls need none.
        return None if self._tool is None else validator_of(self._tool).is_valid


NO_SCHEMA = SchemaGate(None)


# By the digests of tools: a look at one is a fifth of what a cache of tools takes.
_kept: dict[str, SchemaGate] = {}


def schema_gate(tool: ToolSpec) -> SchemaGate:
    """Return the gate of a tool's schema; NO_SCHEMA where the schema is bad."""
    if (kept := _kept.get(tool.digest)) is not None:
        return kept
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    made = _kept[tool.digest] = _made(tool)
    return made


def _made(tool: ToolSpec) -> SchemaGate:
    if not is_surely_valid(tool.input_schema):
        try:
            validator_of(tool)
        except InvalidDocument:
            return NO_SCHEMA
    return SchemaGate(tool)
