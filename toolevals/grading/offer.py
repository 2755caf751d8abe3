"""The tools in front of the model: what a call's class in the matrix is, and whether it conforms to its schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import jsonschema_rs

from toolevals.grading.conformance import call_problems, validator_of
from toolevals.grading.equality import Profile
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Call, MalformedCall, ToolSpec
from toolevals.grading.verdicts import UNKNOWN_TOOL, UNPARSED, SchemaProblem

# Classes are columns of tables; a model may invent a name of any length.
LONGEST_CLASS = 200


@dataclass(frozen=True, slots=True)
class Offer:
    """The offered tools by the form of their names. Where none are known, every name is a class of its own."""

    profile: Profile
    tools: Mapping[str, ToolSpec]
    # What an expected tool is called, where the tools are not known.
    expected_names: Mapping[str, str]

    @classmethod
    def of(cls, tools: Sequence[ToolSpec], expected: Iterable[str], profile: Profile) -> Offer:
        """Return the offer of these tools; `expected` are the names in the expectation."""
        return cls(
            profile,
            {profile.tool_name(tool.name): tool for tool in tools},
            {profile.tool_name(name): name for name in expected},
        )

    def class_of(self, call: Call) -> str:
        """Return the call's column in a confusion matrix."""
        if isinstance(call, MalformedCall):
            return UNPARSED
        return self.class_of_name(call.name)

    def class_of_name(self, name: str) -> str:
        """Return the column of a tool's name."""
        form = self.profile.tool_name(name)
        if (tool := self.tools.get(form)) is not None:
            return tool.name
        if self.tools:
            return UNKNOWN_TOOL
        return self.expected_names.get(form, name[:LONGEST_CLASS] or UNKNOWN_TOOL)

    def tool_of(self, call: Call) -> ToolSpec | None:
        """Return the tool that a call names; None where it is not offered or not known."""
        return None if isinstance(call, MalformedCall) else self.tools.get(self.profile.tool_name(call.name))

    def problems(self, call: Call, place: int) -> tuple[SchemaProblem, ...] | None:
        """Return how the call at `place` breaks its tool's schema; None where there is no schema to check it by."""
        tool = self.tool_of(call)
        if tool is None or isinstance(call, MalformedCall):
            return None
        validator = _validator_or_none(tool)
        if validator is None:
            return None
        if validator.is_valid(call.arguments):
            return ()
        found = call_problems(tool, call.arguments)
        return tuple(SchemaProblem(each.pointer, each.keyword, each.message, place) for each in found)


def _validator_or_none(tool: ToolSpec) -> jsonschema_rs.Validator | None:
    try:
        return validator_of(tool)
    except InvalidDocument:
        return None
