"""The tools in front of the model: what a call's class in the matrix is, and whether it conforms to its schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.conformance import call_problems, validator_of
from toolevals.grading.equality import Profile
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.tool_effects import tool_effect
from toolevals.grading.values import Call, MalformedCall, ToolSpec
from toolevals.grading.verdicts import UNKNOWN_TOOL, UNPARSED, SchemaProblem

# Classes are columns of tables; a model may invent a name of any length.
LONGEST_CLASS = 200

# Whether arguments conform to a tool's schema.
Conforms = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Offer:
    """The offered tools by the form of their names. Where none are known, every name is a class of its own."""

    profile: Profile
    tools: Mapping[str, ToolSpec]
    # What an expected tool is called, where the tools are not known.
    expected_names: Mapping[str, str]
    # What was asked for before: a validator is made once, when it is first wanted.
    _known: dict[str, Conforms | None] = field(default_factory=dict, repr=False, compare=False)

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

    def reads(self, name: str) -> bool:
        """Return whether the tool of this name only reads: as its owner says, else by the verb in its name."""
        return tool_effect(name, self.tools.get(self.profile.tool_name(name))) == "reads"

    def conforms(self, form: str) -> Conforms | None:
        """Return the schema gate of the tool whose name has this form; None where there is no schema to check by."""
        if form not in self.tools:
            return None
        if form not in self._known:
            self._known[form] = _gate_of(self.tools[form])
        return self._known[form]

    def gate_of(self, call: Call) -> Conforms | None:
        """Return the schema gate of the tool that a call names; None where there is no schema to check it by."""
        return None if isinstance(call, MalformedCall) else self.conforms(self.profile.tool_name(call.name))

    def breaks_schema(self, call: Call) -> bool | None:
        """Tell whether a call breaks its tool's schema; None where there is no schema to check it by."""
        if isinstance(call, MalformedCall):
            return None
        conforms = self.conforms(self.profile.tool_name(call.name))
        return None if conforms is None else not conforms(call.arguments)

    def problems(self, call: Call, place: int) -> tuple[SchemaProblem, ...]:
        """Return how the call at `place` breaks its tool's schema, if there is one to check it by."""
        tool = self.tool_of(call)
        if tool is None or isinstance(call, MalformedCall) or self.gate_of(call) is None:
            return ()
        found = call_problems(tool, call.arguments)
        return tuple(SchemaProblem(each.pointer, each.keyword, each.message, place) for each in found)


def _gate_of(tool: ToolSpec) -> Conforms | None:
    try:
        return validator_of(tool).is_valid
    except InvalidDocument:
        return None
