"""Put a decided case into words and detail when someone asks, because most grades are only counted.

Work out where the calls of a decided case belong: its place in the matrix, expected calls, pairs, differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from toolevals.grading.alignment.trajectory import Alignment, best_alignment
from toolevals.grading.edge_cases import call_failure_bucket
from toolevals.grading.engine.arguments import (
    NOTHING_EXPECTED,
    SchemaCheck,
    arguments_reason,
    check_schemas,
    composed_arguments,
    equivalence_reason,
    known_schemas,
    schema_reason,
    shape_reason,
    with_composed,
)
from toolevals.grading.engine.compiled import CompiledCase, Offer
from toolevals.grading.engine.counted_calls import ForgivenCall
from toolevals.grading.engine.decisions import CUT, Decision
from toolevals.grading.engine.layer_grading import NO_LAYERS, LayerGrades, silences
from toolevals.grading.engine.selection import (
    calls_selection,
    cut,
    no_call_selection,
    some_call_selection,
    stand_ins,
)
from toolevals.grading.matching.compiled_calls import CompiledCall, compile_call
from toolevals.grading.matching.equality import Profile, is_ascii
from toolevals.grading.matching.value_differences import argument_differences
from toolevals.grading.values import Call, CallExpectation, ToolCall
from toolevals.grading.values.tools import near_miss
from toolevals.grading.values.transcripts import CUTS
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import (
    CALLS,
    NONE,
    UNKNOWN_TOOL,
    ArgumentDifference,
    Pair,
    SchemaProblem,
    Status,
    Verdict,
)
from toolevals.json_types import JsonMapping

# An expected call's place, or None, beside an actual one's, or None.
Row = tuple[int | None, int | None]

# What stands beside a call that no one expected.
_NOTHING = CallExpectation("", {}, additional_arguments=False)


@value_class
class Placement:
    """The expected calls of one alternative next to the actual ones, row by row."""

    alignment: Alignment
    calls: Sequence[Call]
    offer: Offer
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, alignment: Alignment, calls: Sequence[Call], offer: Offer) -> Placement:
        """Put the aligned calls side by side, missing ones next to those that stand for them; expected ones first."""
        standing = stand_ins(alignment, calls, offer)
        served, used = {expected for expected, _ in standing}, {actual for _, actual in standing}
        rows: list[Row] = sorted([*alignment.pairs, *standing])
        rows += [(each, None) for each in alignment.unmatched_expected if each not in served]
        rows += [(None, each) for each in alignment.unmatched_actual if each not in used]
        return cls(alignment, calls, offer, tuple(rows))

    @property
    def first_call(self) -> tuple[str, str]:
        """The case's row and column in the matrix of first calls.

        The column is the first call; where the tools are right or other calls are allowed, the first one that stands
        next to an expected one, and `(none)` without any. The row is the expected call next to it, else the first that
        is missing, else the first. An expectation that merely forbids some calls is outside the matrix; one that
        forbids them all is `(none)`.
        """
        alignment = self.alignment
        if not alignment.total:
            if alignment.compiled.trajectory.additional_calls:
                return "", ""
            return NONE, self.offer.class_of(self.calls[0]) if self.calls else NONE
        if not self.calls:
            return self._expected_name(0), NONE
        beside = {actual: expected for expected, actual in self.rows if expected is not None and actual is not None}
        if alignment.tools_are_right or alignment.compiled.trajectory.additional_calls:
            if not beside:
                return self._expected_name(next(iter(alignment.unmatched_expected), 0)), NONE
            first = min(beside)
        else:
            first = 0
        expected = beside.get(first)
        if expected is None:
            expected = next(iter(alignment.unmatched_expected), 0)
        return self._expected_name(expected), self.offer.class_of(self.calls[first])

    def pairs(self, broken: frozenset[int]) -> tuple[Pair, ...]:
        """Return every row as a pair of classes; `broken` are the actual calls that break their schemas."""
        statuses: dict[Row, Status] = {}
        for pair, check in zip(self.alignment.pairs, self.alignment.checks, strict=True):
            if check.faults or pair[1] in broken:
                statuses[pair] = "failed"
            else:
                statuses[pair] = "unscored" if check.unjudged else "passed"
        return tuple(
            Pair(
                NONE if expected is None else self._expected_name(expected),
                NONE if actual is None else self.offer.class_of(self.calls[actual]),
                statuses.get((expected, actual), "unscored"),
            )
            for expected, actual in self.rows
        )

    def differences(self) -> tuple[ArgumentDifference, ...]:
        """Return the arguments of every row side by side."""
        profile = self.offer.profile
        found: list[ArgumentDifference] = []
        for number, (expected, actual) in enumerate(self.rows):
            wanted = compile_call(_NOTHING, profile) if expected is None else self.alignment.compiled.calls[expected]
            call = None if actual is None else self.calls[actual]
            found.extend(_beside(wanted, call, profile, number))
        return tuple(found)

    def _expected_name(self, place: int) -> str:
        return self.offer.name_of(self.alignment.compiled.calls[place].expectation.tool)


def needless_pairs(calls: Sequence[Call], offer: Offer) -> tuple[Pair, ...]:
    """Return the pairs of a case in which no call is due."""
    return tuple(Pair(NONE, offer.class_of(call), "unscored") for call in calls) or (Pair(NONE, NONE, "unscored"),)


def needless_differences(calls: Sequence[Call], profile: Profile) -> tuple[ArgumentDifference, ...]:
    """Return the arguments of calls that are not due."""
    nothing = compile_call(_NOTHING, profile)
    return tuple(each for number, call in enumerate(calls) for each in _beside(nothing, call, profile, number))


def _beside(wanted: CompiledCall, call: Call | None, profile: Profile, number: int) -> Sequence[ArgumentDifference]:
    if call is None or isinstance(call, ToolCall):
        return tuple(argument_differences(wanted, {} if call is None else call.arguments, profile, number))
    return tuple(argument_differences(wanted, {}, profile, number))


class ExplainedCalls:
    """The calls of a decided case next to the expected ones. Each part is worked out when first wanted, and kept."""

    def __init__(
        self,
        compiled: CompiledCase,
        calls: Sequence[Call],
        decision: Decision,
        alignment: Alignment | None = None,
        places: Sequence[int] | None = None,
    ) -> None:
        self._compiled = compiled
        self._calls = calls
        self._decision = decision
        self._alignment = alignment
        self._places = range(len(calls)) if places is None else places

    def is_only_of(self, compiled: CompiledCase, calls: Sequence[Call]) -> bool:
        """Return whether it explains a grade of all these calls by this expectation, which has no other alternative."""
        return self._compiled is compiled and len(compiled.trajectories) == 1 and len(self._calls) == len(calls)

    def aligned(self) -> Alignment:
        """Return the best alignment of the calls, where calls are expected."""
        if self._alignment is None:
            self._alignment = best_alignment(self._compiled.trajectories, self._calls, self._compiled.profile)
        return self._alignment

    @cached_property
    def _placement(self) -> Placement:
        return Placement.of(self.aligned(), self._calls, self._compiled.offer)

    def _place(self) -> tuple[str, str]:
        kind = self._compiled.expectation.kind
        if kind == "calls":
            return self._placement.first_call
        return (NONE, self._pairs()[0].actual) if kind == "no_call" else ("", "")

    def _pairs(self) -> tuple[Pair, ...]:
        kind = self._compiled.expectation.kind
        if kind == "calls":
            return self._placement.pairs(self._schemas.broken)
        return needless_pairs(self._calls, self._compiled.offer) if kind == "no_call" else ()

    @cached_property
    def _differences(self) -> tuple[ArgumentDifference, ...]:
        kind = self._compiled.expectation.kind
        if kind == "calls":
            return self._placement.differences()
        return needless_differences(self._calls, self._compiled.profile) if kind == "no_call" else ()

    @cached_property
    def _schemas(self) -> SchemaCheck:
        if self._decision.statuses["schema"] == "failed":
            return check_schemas(self._calls, self._compiled.offer)
        # It is decided that none is broken.
        return known_schemas(self._calls, self._compiled.offer)

    @cached_property
    def _schema_problems(self) -> tuple[SchemaProblem, ...]:
        if self._decision.statuses["schema"] != "failed":
            return ()
        offer, calls = self._compiled.offer, self._calls
        return tuple(
            problem
            for place in sorted(self._schemas.broken)
            for problem in offer.problems(calls[place], self._places[place])
        )


_ANY_CALL = "Any call will do, so there are no arguments to compare."
# What a detail is that cannot be made.
_EMPTY: JsonMapping = {
    "expected": "",
    "actual": "",
    "pairs": (),
    "differences": (),
    "schema_problems": (),
    "details": {},
    "layer_details": {},
    "judged": {},
    "injections": (),
}
NOTHING_RENAMED: Mapping[str, str] = {}
# Spellings of names that a reason speaks of.
_NAMED = 5
_NOT_EXPECTED = {"no_call": NOTHING_EXPECTED, "some_call": _ANY_CALL}


class Explanation(ExplainedCalls):
    """The fields of a decided grade (`verdicts.CaseSource`), of calls alone or of a conversation."""

    def __init__(
        self,
        compiled: CompiledCase,
        calls: Sequence[Call],
        decision: Decision,
        alignment: Alignment | None = None,
        *,
        places: Sequence[int] | None = None,
        layers: LayerGrades = NO_LAYERS,
        ended: str | None = None,
        forgiven: tuple[ForgivenCall, ...] = (),
        renamed: Mapping[str, str] = NOTHING_RENAMED,
    ) -> None:
        """Hold what was decided.

        `layers` holds further layers' grades, `ended` says why the conversation was cut, None where it was not.
        `forgiven` are calls that count for nothing, since they react rightly to a failure.
        `renamed` holds the offered tools' names by the ones that the calls had.
        """
        super().__init__(compiled, calls, decision, alignment, places)
        self._layers = layers
        self._ended = ended
        self._names = renamed
        self._forgiven = forgiven

    @property
    def statuses(self) -> Mapping[str, Status]:
        """The status of every verdict."""
        return self._decision.statuses

    @property
    def values(self) -> Mapping[str, float | None]:
        """The value of every verdict."""
        return self._decision.values

    def field(self, name: str) -> Any:
        """Return a field of the grade.

        What was decided stands, whatever happens here: where words cannot be found, the reason says so, and a detail
        that cannot be made is empty.
        """
        try:
            return self._FIELDS[name](self)
        except Exception as error:  # noqa: BLE001 (the reader of a grade is not the one to mend the grader)
            if name != "verdicts":
                return _EMPTY[name]
            return self._verdicts_for(f"The reason cannot be given: {type(error).__name__}: {error}")

    def detail(self, layer: str) -> JsonMapping:
        """Return what is in the grade's `details` of a layer."""
        # Of arguments there is something to work out, which the other layers have done.
        details = self.field("details" if layer == "arguments" else "layer_details")
        found: JsonMapping = details.get(layer, {})
        return found

    def _verdicts(self) -> Mapping[str, Verdict]:
        verdicts = {**silences(), **self._call_verdicts(), **self._layers.verdicts}
        return {name: verdicts[name] for name in self._decision.statuses}

    @cached_property
    def _composed(self) -> tuple[str, ...]:
        """The arguments of right calls of which the letters are composed in another way than the expected."""
        if self._decision.statuses["equivalence"] != "passed" or self._compiled.expectation.kind != "calls":
            return ()
        if is_ascii(_given(self._calls)):
            return ()
        alignment = self.aligned()
        found = (
            composed_arguments(alignment.compiled.calls[expected].expectation, self._calls[actual])
            for expected, actual in alignment.pairs
        )
        return tuple(dict.fromkeys(name for names in found for name in names))

    def _call_verdicts(self) -> Mapping[str, Verdict]:
        """Return the outcome and the verdicts on the calls."""
        statuses, values = self._decision.statuses, self._decision.values
        reasons = self._reasons()
        return {name: Verdict(statuses[name], values[name], reason) for name, reason in reasons.items()}

    def _verdicts_for(self, reason: str) -> Mapping[str, Verdict]:
        statuses, values = self._decision.statuses, self._decision.values
        return {name: Verdict(status, values[name], reason) for name, status in statuses.items()}

    def _reasons(self) -> dict[str, str]:
        statuses, calls = self._decision.statuses, self._calls
        schema = schema_reason(statuses["schema"], calls, self._schemas, self._schema_problems, self._compiled.offer)
        if self._compiled.expectation.kind == "calls":
            alignment = self.aligned()
            _, selection = calls_selection(alignment, calls, self._compiled.offer)
            equivalence = equivalence_reason(statuses["equivalence"], alignment, calls)
            broken = self._decision.call_mode == "schema_error"
            arguments = arguments_reason(statuses["arguments"], alignment, broken, schema, equivalence)
            shape = shape_reason(statuses["shape"], alignment)
        else:
            _, selection = (
                no_call_selection(calls)
                if self._compiled.expectation.kind == "no_call"
                else some_call_selection(calls, self._compiled.offer)
            )
            equivalence = arguments = shape = _NOT_EXPECTED[self._compiled.expectation.kind]
        reasons = {
            "selection": selection() + self._forgiveness() + self._spellings(),
            "arguments": with_composed(arguments, self._composed),
            "schema": schema,
            "shape": shape,
            "equivalence": with_composed(equivalence, self._composed),
        }
        return {"outcome": self._outcome(reasons), **reasons}

    def _forgiveness(self) -> str:
        """Return the sentences that say which calls do not count, by which the agent reacted to a failure."""
        said = (
            f" {cut(each.tool)} is not an excess call: {cut(each.failed)} was called as expected and failed; this was"
            f" the {each.reaction.replace('_', ' ')}."
            for each in self._forgiven
        )
        return "".join(said)

    def _spellings(self) -> str:
        """Return the sentences that say which names were read as those of offered tools, and which nearly were."""
        tools = self._compiled.offer.specs
        said = [f"{cut(written)} was read as {cut(name)}." for written, name in sorted(self._names.items())]
        unknown = [call.name for call in self._calls if self._compiled.offer.class_of(call) == UNKNOWN_TOOL]
        near = [(name, near_miss(name, tools)) for name in dict.fromkeys(unknown[:_NAMED]) if name]
        said += [f"{cut(name)} is not offered: {words}." for name, words in near if words]
        return "".join(f" {sentence}" for sentence in said[:_NAMED])

    def _outcome(self, reasons: Mapping[str, str]) -> str:
        """Return the reason of what decided; of calls the first layer that failed, else the arguments' if judged."""
        statuses, said_by = self._decision.statuses, self._decision.said_by
        if said_by == CUT and self._ended is not None:
            return f"The conversation was cut: {CUTS[self._ended]}."
        if said_by != CALLS:
            found = self._layers.verdicts.get(said_by) or silences()[said_by]
            return found.reason
        for name in ("selection", "arguments"):
            if statuses[name] == "failed":
                return reasons[name]
        judged = statuses["outcome"] == "unscored" or statuses["arguments"] == "passed"
        return reasons["arguments" if judged else "selection"]

    def _details(self) -> JsonMapping:
        if self._decision.statuses["arguments"] != "failed":
            return self._layer_details
        breaks_schema = self._decision.call_mode == "schema_error"
        bucket = call_failure_bucket(self._differences, breaks_schema=breaks_schema)
        return {"arguments": {"bucket": bucket.value if bucket else ""}, **self._layer_details}

    @cached_property
    def _layer_details(self) -> JsonMapping:
        if not self._forgiven:
            return self._layers.details
        forgiven = [each.to_document() for each in self._forgiven]
        return {"selection": {"counted": list(self._places), "forgiven": forgiven}, **self._layers.details}

    _FIELDS: ClassVar[Mapping[str, Callable[[Explanation], Any]]] = {
        "verdicts": _verdicts,
        "expected": lambda self: self._place()[0],
        "actual": lambda self: self._place()[1],
        "pairs": ExplainedCalls._pairs,
        "differences": lambda self: self._differences,
        "schema_problems": lambda self: self._schema_problems,
        "details": _details,
        "layer_details": lambda self: self._layer_details,
        "judged": lambda _: {},
        "injections": lambda _: (),
        "decided_by": lambda self: self._compiled.decided_by,
    }


def _given(calls: Sequence[Call]) -> list[Any]:
    return [call.arguments for call in calls if isinstance(call, ToolCall)]
