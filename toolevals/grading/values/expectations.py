"""Define what should happen: no call, some call, or one of several accepted trajectories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal, Self, TypeAlias

from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.matchers import (
    Exact,
    Matcher,
    compile_pattern,
    matchers_from_document,
    may_refer,
    references_in,
)
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# So that the effort of putting calls to expectations has a bound.
MOST_EXPECTED = 256

ExpectationKind = Literal["no_call", "some_call", "calls"]
ProfileName = Literal["strict", "standard", "loose", "bfcl"]


@value_class
class CallExpectation:
    """One expected call. Arguments without a matcher are free, unless `additional_arguments` is false."""

    tool: str
    arguments: Mapping[str, Matcher] = field(default_factory=dict)
    additional_arguments: bool = True

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        document: JsonObject = {"tool": self.tool}
        if self.arguments:
            document["arguments"] = {name: matcher.to_document() for name, matcher in self.arguments.items()}
        if not self.additional_arguments:
            document["additional_arguments"] = False
        return document


@value_class
class OneOfCalls:
    """One expected call that any of several fills; it counts as one. An extension of ours."""

    options: tuple[CallExpectation, ...]

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"one_of_calls": [call.to_document() for call in self.options]}


Expected: TypeAlias = CallExpectation | OneOfCalls


def options_of(expected: Expected) -> tuple[CallExpectation, ...]:
    """Return the calls of which one is expected: just the one, unless there is a choice."""
    return expected.options if isinstance(expected, OneOfCalls) else (expected,)


@value_class
class AnyOrder:
    """A group that fills one position of an ordered list; its calls come in any order."""

    calls: tuple[Expected, ...]

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"any_order": [call.to_document() for call in self.calls]}


Step: TypeAlias = Expected | AnyOrder


@value_class
class Trajectory:
    """Expected calls in order, expected calls anywhere, calls that must not be, and whether others may be."""

    ordered: tuple[Step, ...] = ()
    unordered: tuple[Expected, ...] = ()
    disallowed: tuple[CallExpectation, ...] = ()
    additional_calls: bool = True

    @property
    def expected(self) -> tuple[Expected, ...]:
        """Return what is expected, one by one: the ordered calls with their groups opened, then the unordered ones."""
        flat: list[Expected] = []
        for step in self.ordered:
            if isinstance(step, AnyOrder):
                flat += step.calls
            else:
                flat.append(step)
        return (*flat, *self.unordered)

    @property
    def calls(self) -> tuple[CallExpectation, ...]:
        """Every call that may serve, in the order of `expected`: of a choice, all of its options."""
        return tuple([call for each in self.expected for call in options_of(each)])

    @property
    def named(self) -> tuple[CallExpectation, ...]:
        """Every call that is named, disallowed ones too."""
        return (*self.calls, *self.disallowed)

    def located_calls(self) -> Iterator[tuple[str, CallExpectation]]:
        """Yield every call that is named, disallowed ones too, with the JSON pointer to it in the document."""
        for pointer, expected in self.located():
            yield from _located(expected, pointer)
        for place, call in enumerate(self.disallowed):
            yield f"/disallowed/{place}", call

    def located(self) -> Iterator[tuple[str, Expected]]:
        """Yield what is expected, in the order of `expected`, with the JSON pointer to it in the document."""
        for place, step in enumerate(self.ordered):
            members = step.calls if isinstance(step, AnyOrder) else (step,)
            for member, expected in enumerate(members):
                group = f"/any_order/{member}" if isinstance(step, AnyOrder) else ""
                yield f"/ordered/{place}{group}", expected
        for place, expected in enumerate(self.unordered):
            yield f"/unordered/{place}", expected

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        parts: tuple[tuple[str, Iterable[Step]], ...] = (
            ("ordered", self.ordered),
            ("unordered", self.unordered),
            ("disallowed", self.disallowed),
        )
        document: JsonObject = {key: [step.to_document() for step in steps] for key, steps in parts if steps}
        if not self.additional_calls:
            document["additional_calls"] = False
        return document


@value_class
class Expectation:
    """The expected behaviour. `alternatives` is empty unless `kind` is "calls"; any one of them will do.

    `near`: of no call, the tools that the request comes near, a remark that changes no verdict. `reactions` (to an
    error), `answer` (facts expected in it) and `state` (the whole final state) may be given too.
    """

    kind: ExpectationKind
    why: str = ""
    alternatives: tuple[Trajectory, ...] = ()
    profile: ProfileName = "standard"
    reactions: tuple[str, ...] = ()
    answer: JsonMapping | None = None
    state: JsonMapping | None = None
    near: tuple[str, ...] = ()

    def lets_be(self, tool: str) -> bool:
        """Return whether a call to this tool may come next to the expected ones: others may, and it is allowed."""
        return any(
            each.additional_calls and all(call.tool != tool for call in each.disallowed) for each in self.alternatives
        )

    @classmethod
    def single(cls, tool: str, arguments: JsonMapping) -> Self:
        """Return the plain form: just this call, with just these argument values."""
        exact = {name: Exact(value) for name, value in arguments.items()}
        call = CallExpectation(tool, exact, additional_arguments=False)
        return cls("calls", alternatives=(Trajectory(ordered=(call,), additional_calls=False),))

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Read the native form (`schemas/expectation.v1.json`). Raises InvalidDocument."""
        require_valid(document, "expectation")
        return cls.from_kept(document)

    @classmethod
    def from_kept(cls, document: JsonValue) -> Self:
        """Read a document that the schema has passed, as one that we keep. Raises InvalidDocument for a bad pattern."""
        alternatives = document.get("alternatives", ())
        answer = document.get("answer")
        if answer and "pattern" in answer:
            try:
                compile_pattern(answer["pattern"])
            except ValueError as error:
                raise InvalidDocument.at("/answer/pattern", str(error)) from None
        return cls(
            kind=document["kind"],
            why=document.get("why", ""),
            alternatives=tuple(_trajectory(item, f"/alternatives/{place}") for place, item in enumerate(alternatives)),
            profile=document.get("profile", "standard"),
            reactions=tuple(document.get("reactions", ())),
            answer=answer,
            state=document.get("state"),
            near=tuple(document.get("near", ())),
        )

    def located_calls(self) -> Iterator[tuple[str, CallExpectation]]:
        """Yield every call that is named, disallowed ones too, with the JSON pointer to it in the document."""
        for place, trajectory in enumerate(self.alternatives):
            yield from ((f"/alternatives/{place}{pointer}", call) for pointer, call in trajectory.located_calls())

    def to_document(self) -> JsonObject:
        """Return the normal form, without what is at its default."""
        document: JsonObject = {"kind": self.kind}
        if self.why:
            document["why"] = self.why
        if self.near:
            document["near"] = list(self.near)
        if self.alternatives:
            document["alternatives"] = [alternative.to_document() for alternative in self.alternatives]
        if self.profile != "standard":
            document["profile"] = self.profile
        if self.reactions:
            document["reactions"] = list(self.reactions)
        if self.answer is not None:
            document["answer"] = dict(self.answer)
        if self.state is not None:
            document["state"] = dict(self.state)
        return document


def _located(expected: Expected, pointer: str) -> Iterator[tuple[str, CallExpectation]]:
    if isinstance(expected, OneOfCalls):
        yield from ((f"{pointer}/one_of_calls/{place}", call) for place, call in enumerate(expected.options))
    else:
        yield pointer, expected


def _trajectory(document: JsonObject, pointer: str) -> Trajectory:
    trajectory = Trajectory(
        ordered=tuple(
            _step(step, f"{pointer}/ordered/{place}") for place, step in enumerate(document.get("ordered", ()))
        ),
        unordered=_expected(document.get("unordered", ()), f"{pointer}/unordered"),
        disallowed=_calls(document.get("disallowed", ()), f"{pointer}/disallowed"),
        additional_calls=document.get("additional_calls", True),
    )
    if len(trajectory.expected) > MOST_EXPECTED:
        raise InvalidDocument.at(pointer, f"expects more than {MOST_EXPECTED} calls")
    if not any(may_refer(each) for call in trajectory.named for each in call.arguments.values()):
        return trajectory
    for number, (where, expected) in enumerate(trajectory.located(), 1):
        for inside, call in _located(expected, pointer + where):
            require_earlier(call, number, inside)
    for place, call in enumerate(trajectory.disallowed):
        require_earlier(call, 1, f"{pointer}/disallowed/{place}")
    return trajectory


def require_earlier(call: CallExpectation, number: int, pointer: str) -> None:
    """Check that a call refers to calls before it only; it is the `number`th from 1, 1 where it can refer to none.

    Raises InvalidDocument.
    """
    for name, matcher in call.arguments.items():
        if not may_refer(matcher):
            continue
        for inside, reference in references_in(matcher, f"{pointer}/arguments{pointer_to([name])}"):
            if reference.call >= number:
                can = f"it can refer to calls 1 to {number - 1}" if number > 1 else "it can refer to none"
                where = f"{inside}/result_of/call"
                raise InvalidDocument.at(where, f"call {reference.call} is not before this one: {can}")


def _step(document: JsonObject, pointer: str) -> Step:
    if "any_order" in document:
        return AnyOrder(_expected(document["any_order"], f"{pointer}/any_order"))
    return _one(document, pointer)


def _expected(documents: Iterable[JsonObject], pointer: str) -> tuple[Expected, ...]:
    return tuple(_one(document, f"{pointer}/{place}") for place, document in enumerate(documents))


def _one(document: JsonObject, pointer: str) -> Expected:
    if "one_of_calls" in document:
        return OneOfCalls(_calls(document["one_of_calls"], f"{pointer}/one_of_calls"))
    return call_expectation_from(document, pointer)


def _calls(documents: Iterable[JsonObject], pointer: str) -> tuple[CallExpectation, ...]:
    return tuple(call_expectation_from(document, f"{pointer}/{place}") for place, document in enumerate(documents))


def call_expectation_from(document: JsonObject, pointer: str = "") -> CallExpectation:
    """Read one expected call that a schema has passed. Raises InvalidDocument as the matchers do."""
    arguments = matchers_from_document(document.get("arguments", {}), f"{pointer}/arguments")
    return CallExpectation(document["tool"], arguments, document.get("additional_arguments", True))
