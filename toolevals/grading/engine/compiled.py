"""Compiles an expectation with the offered tools, once, for any number of transcripts.

Holds the tools offered to the model: what a call's class in the matrix is, and whether it conforms to its schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from toolevals.grading.alignment.trajectory import CompiledTrajectory, compile_trajectory
from toolevals.grading.json_schema.conformance import (
    NO_SCHEMA,
    SchemaGate,
    call_problems,
    schema_gate,
    unchecked_formats,
    unused_words,
    validator_of,
)
from toolevals.grading.matching.equality import PROFILES, Judge, Profile
from toolevals.grading.values import Call, Expectation, MalformedCall, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.tools import candidates, tool_effect, with_names
from toolevals.grading.values.verdicts import EXPECTED, UNKNOWN_TOOL, UNPARSED, SchemaProblem
from toolevals.json_types import JsonMapping

# Classes are columns of tables; a model may invent a name of any length.
LONGEST_CLASS = 200
# Lists of tools of which the tools by name are kept: the examples of a dataset share a few.
_MOST_LISTS = 64
# So many tools are looked through one by one, which needs no table of them.
_FEW = 32
_NONE: Mapping[str, str] = {}
# Names of which the class is kept: those of one case are few, and a model may invent any number.
_MOST_CLASSES = 64


class _Named(NamedTuple):
    """Holds the tools of a list by the form of their names and by their names, and these names in order."""

    specs: tuple[ToolSpec, ...]
    by_form: Mapping[str, ToolSpec]
    by_name: Mapping[str, ToolSpec]
    names: tuple[str, ...]

    @classmethod
    def of(cls, specs: tuple[ToolSpec, ...], profile: Profile) -> Self:
        by_form = {profile.tool_name(tool.name): tool for tool in specs}
        by_name = {tool.name: tool for tool in by_form.values()}
        return cls(specs, by_form, by_name, tuple(sorted(by_name)))


# By the list's identity, which no other can have as long as it is kept here, and by what the profile makes of names.
_named: dict[tuple[int, bool], _Named] = {}


# Not frozen, because to make one takes three times as long then: no one changes one.
@dataclass(slots=True)
class Offer:
    """The offered tools, none where they are not known: every name is a class of its own then.

    `tools` are the same by the form of their names, the last of those that have one form, `by_name` these by their own
    names, and `names` those names in order. `expected_names` say, where the tools are not known, what an expected tool
    is called. All are made when they are first wanted.
    """

    profile: Profile
    specs: tuple[ToolSpec, ...]
    expectation: Expectation
    tools: Mapping[str, ToolSpec] = field(init=False, repr=False, compare=False)
    by_name: Mapping[str, ToolSpec] = field(init=False, repr=False, compare=False)
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    expected_names: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _classes: dict[str, str] = field(init=False, repr=False, compare=False)

    def __getattr__(self, name: str) -> Any:
        # Python asks here only where a slot is empty.
        form = self.profile.tool_name
        made: JsonMapping
        if name in ("tools", "by_name", "names"):
            _, self.tools, self.by_name, self.names = self._named()
            return getattr(self, name)
        if name == "expected_names":
            alternatives = () if self.specs else self.expectation.alternatives
            expected = [call.tool for trajectory in alternatives for call in trajectory.calls]
            self.expected_names = made = {form(name): name for name in expected}
        elif name == "_classes":
            # A name is asked for several times in a case.
            self._classes = made = {}
        else:
            raise AttributeError(name)
        return made

    def _named(self) -> _Named:
        key = id(self.specs), self.profile.one_dot_and_underscore
        if (known := _named.get(key)) is None:
            known = _Named.of(self.specs, self.profile)
            if len(_named) >= _MOST_LISTS:
                _named.clear()
            _named[key] = known
        return known

    def class_of(self, call: Call) -> str:
        """Return the call's column in a confusion matrix."""
        if isinstance(call, MalformedCall):
            return UNPARSED
        return self.class_of_name(call.name)

    def class_of_name(self, name: str) -> str:
        """Return the column of a tool's name."""
        if (known := self._classes.get(name)) is None:
            known = self._class_of_name(name)
            if len(self._classes) < _MOST_CLASSES:
                self._classes[name] = known
        return known

    def _class_of_name(self, name: str) -> str:
        form = self.profile.tool_name(name)
        if not self.specs:
            return self.expected_names.get(form, name[:LONGEST_CLASS] or UNKNOWN_TOOL)
        if (tool := self.tools.get(form)) is not None:
            return tool.name
        found = candidates(name, self.specs)
        return found[0] if len(found) == 1 else UNKNOWN_TOOL

    def meant(self, transcript: Transcript) -> Transcript:
        """Return a transcript with the offered tools' own names, where another spelling of one was written."""
        renamed = self.spellings(transcript.calls)
        return with_names(transcript, renamed) if renamed else transcript

    def spellings(self, calls: Sequence[Call]) -> Mapping[str, str]:
        """Return the offered tools' own names by the other spellings of them in calls."""
        specs = self.specs if len(self.specs) <= _FEW else ()
        for call in calls if self.specs else ():
            # Nearly always the name is that of a tool.
            for tool in specs:
                if tool.name == call.name:
                    break
            else:
                if specs or call.name not in self.by_name:
                    break
        else:
            return _NONE
        written = {call.name for call in calls if isinstance(call, ToolCall)}
        foreign = (name for name in written if self.profile.tool_name(name) not in self.tools)
        return {name: meant for name in foreign if (meant := self.class_of_name(name)) != UNKNOWN_TOOL}

    def name_of(self, expected: str) -> str:
        """Return the row of an expected tool: the offered tool's own name, or the label's where it is not offered."""
        tool = self.tools.get(self.profile.tool_name(expected)) if self.specs else None
        return expected if tool is None else tool.name

    def tool_of(self, call: Call) -> ToolSpec | None:
        """Return the tool that a call names; None where it is not offered or not known."""
        return None if isinstance(call, MalformedCall) else self.tools.get(self.profile.tool_name(call.name))

    def reads(self, name: str) -> bool:
        """Return whether the tool of this name only reads: as its owner says, else by the verb in its name."""
        return tool_effect(name, self.tools.get(self.profile.tool_name(name))) == "reads"

    def schema_gate(self, form: str) -> SchemaGate:
        """Return the schema gate of the tool whose name has this form; NO_SCHEMA where there is none to check by."""
        tool = self.tools.get(form)
        return NO_SCHEMA if tool is None else schema_gate(tool)

    def gate_of(self, call: Call) -> SchemaGate:
        """Return the schema gate of the tool that a call names; NO_SCHEMA where there is none to check it by."""
        return NO_SCHEMA if isinstance(call, MalformedCall) else self.schema_gate(self.profile.tool_name(call.name))

    def breaks_schema(self, call: Call) -> bool | None:
        """Tell whether a call breaks its tool's schema; None where there is no schema to check it by."""
        if isinstance(call, MalformedCall) or not (gate := self.gate_of(call)).is_known:
            return None
        return gate.breaks(call.arguments)

    def problems(self, call: Call, place: int) -> tuple[SchemaProblem, ...]:
        """Return how the call at `place` breaks its tool's schema, if there is one to check it by."""
        tool = self.tool_of(call)
        if tool is None or isinstance(call, MalformedCall) or not self.gate_of(call).is_known:
            return ()
        try:
            found = call_problems(tool, call.arguments)
        except InvalidDocument:
            # Their check may take too long.
            return ()
        return tuple(SchemaProblem(each.pointer, each.keyword, each.message, place) for each in found)

    def unchecked_formats(self, call: Call) -> str:
        """Return the sentence that names the formats of a call's tool that nothing checks; "" where there are none."""
        tool = self.tool_of(call)
        return "" if tool is None or not tool.assert_formats else unchecked_formats(tool)

    def why_unchecked(self, call: Call) -> str:
        """Return why a call is not checked by its tool's schema, with the tool's name; "" where it has none or is."""
        tool = self.tool_of(call)
        if tool is None or isinstance(call, MalformedCall):
            return ""
        try:
            validator_of(tool).is_valid(call.arguments)
        except InvalidDocument as error:
            return unused_words(tool, error)
        return ""


@dataclass
class CompiledCase:
    """An expectation as tests. `failure` says why it could not be compiled: every grade is then errored.

    `expects_layers` says that it expects more than calls; `decided_by` what its outcome is made of.
    """

    expectation: Expectation
    profile: Profile
    offer: Offer
    failure: str = ""
    expects_layers: bool = False
    decided_by: str = EXPECTED

    @cached_property
    def trajectories(self) -> tuple[CompiledTrajectory, ...]:
        """The alternatives as tests; none where they could not be compiled."""
        expected = () if self.failure else self.expectation.alternatives
        return tuple(compile_trajectory(each, self.profile) for each in expected)

    @property
    def refers(self) -> bool:
        """Tell whether an expected call refers to the result of another."""
        return any(each.referred for each in self.trajectories)


def compile_case(
    expectation: Expectation, tools: Sequence[ToolSpec], judge: Judge | None = None, *, decided_by: str = EXPECTED
) -> CompiledCase:
    """Compile an expectation and the tools offered with it; without any, names are not known and schemas not checked.

    `judge` answers criteria in words; without one they are left open. `decided_by` is in the normal form of
    `deciding.read_decided_by`. Never raises: what cannot be compiled is graded as HARNESS_ERROR.
    """
    profile = PROFILES[expectation.profile]
    if judge is not None:
        profile = replace(profile, judge=judge)
    expects_layers = bool(expectation.reactions) or expectation.answer is not None or expectation.state is not None
    offer = Offer(profile, tuple(tools), expectation)
    made = CompiledCase(expectation, profile, offer, "", expects_layers, decided_by)
    try:
        # What cannot be compiled is told now.
        _ = made.trajectories
    except Exception as error:  # noqa: BLE001 (the boundary that turns crashes into verdicts)
        return CompiledCase(expectation, profile, offer, f"{type(error).__name__}: {error}", decided_by=decided_by)
    return made
