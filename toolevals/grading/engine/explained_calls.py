"""Work out where the calls of a decided case belong: its place in the matrix, expected calls, pairs, differences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from toolevals.grading.alignment.trajectory import Alignment, best_alignment
from toolevals.grading.engine.arguments import SchemaCheck, check_schemas, known_schemas
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.decisions import Decision
from toolevals.grading.engine.offered_tools import Offer
from toolevals.grading.engine.stand_ins import stand_ins
from toolevals.grading.matching.compiled_calls import CompiledCall, compile_call
from toolevals.grading.matching.differences import argument_differences
from toolevals.grading.matching.equality import Profile
from toolevals.grading.values import Call, CallExpectation, ToolCall
from toolevals.grading.values.statuses import Status
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import NONE, ArgumentDifference, Pair, SchemaProblem

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
