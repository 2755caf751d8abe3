"""Work out where the calls of a decided case belong: the expected calls beside them, the pairs, what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from toolevals.grading.alignment.trajectory import Alignment, best_alignment
from toolevals.grading.engine.arguments import SchemaCheck, check_schemas, known_schemas
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.decisions import Decision
from toolevals.grading.engine.matrix_placement import Placement, needless_differences, needless_pairs
from toolevals.grading.engine.positional_match import Place
from toolevals.grading.engine.worked_out import WorkedOut
from toolevals.grading.matching.differences import argument_differences, equal_arguments
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.verdicts import NONE, ArgumentDifference, Pair, SchemaProblem


class ExplainedCalls(WorkedOut):
    """The calls of a decided case beside the expected ones. Everything is worked out when first wanted, and kept."""

    __slots__ = (
        "_alignment",
        "_calls",
        "_compiled",
        "_decision",
        "_differences",
        "_only_pair",
        "_place",
        "_placement",
        "_places",
        "_schema_problems",
        "_schemas",
    )

    _compiled: CompiledCase
    _calls: Sequence[Call]
    _decision: Decision
    _alignment: Alignment | None
    # Worked out when a field first wants them; the first unless it was given.
    _places: Sequence[int]
    _differences: tuple[ArgumentDifference, ...]
    _only_pair: Pair | None
    _place: tuple[str, str]
    _placement: Placement
    _schema_problems: tuple[SchemaProblem, ...]
    _schemas: SchemaCheck

    def is_only_of(self, compiled: CompiledCase) -> bool:
        """Return whether it explains a grade by this expectation, which has no other alternative."""
        return self._compiled is compiled and len(compiled.trajectories) == 1

    def aligned(self) -> Alignment:
        """Return the best alignment of the calls, where calls are expected."""
        if self._alignment is None:
            self._alignment = best_alignment(self._compiled.trajectories, self._calls, self._compiled.profile)
        return self._alignment

    def _find_placement(self) -> Placement:
        return Placement.of(self.aligned(), self._calls, self._compiled.offer)

    def _find_place(self) -> tuple[str, str]:
        if (pair := self._only_pair) is not None:
            return pair.expected, pair.actual
        kind = self._compiled.expectation.kind
        if kind == "calls":
            return self._placement.first_call
        return (NONE, self._pairs()[0].actual) if kind == "no_call" else ("", "")

    def _only_place(self) -> Place | None:
        """Return where the one call is expected that was made just there; None where there is more to say."""
        in_place = self._compiled.in_place
        if in_place is None or not in_place.is_alone or len(self._calls) != 1:
            return None
        return in_place.places[0] if self._decision.statuses["selection"] == "passed" else None

    def _find_only_pair(self) -> Pair | None:
        if (place := self._only_place()) is None:
            return None
        offer = self._compiled.offer
        expected = offer.name_of(place.expectation.tool)
        return Pair(expected, offer.class_of(self._calls[0]), self._decision.statuses["arguments"])

    def _pairs(self) -> tuple[Pair, ...]:
        if (pair := self._only_pair) is not None:
            return (pair,)
        kind = self._compiled.expectation.kind
        if kind == "calls":
            return self._placement.pairs(self._schemas.broken)
        return needless_pairs(self._calls, self._compiled.offer) if kind == "no_call" else ()

    def _find_differences(self) -> tuple[ArgumentDifference, ...]:
        call = self._calls[0] if self._calls else None
        if isinstance(call, ToolCall) and (place := self._only_place()) is not None:
            if self._decision.statuses["equivalence"] == "passed":
                return tuple(equal_arguments(place.expectation, call.arguments, 0))
            return tuple(argument_differences(place.call, call.arguments, place.profile, 0))
        kind = self._compiled.expectation.kind
        if kind == "calls":
            return self._placement.differences()
        return needless_differences(self._calls, self._compiled.profile) if kind == "no_call" else ()

    def _check_schemas(self) -> SchemaCheck:
        if self._decision.statuses["schema"] == "failed":
            return check_schemas(self._calls, self._compiled.offer)
        # It is decided that none is broken.
        return known_schemas(self._calls, self._compiled.offer)

    def _find_schema_problems(self) -> tuple[SchemaProblem, ...]:
        if self._decision.statuses["schema"] != "failed":
            return ()
        offer, calls = self._compiled.offer, self._calls
        return tuple(
            problem
            for place in sorted(self._schemas.broken)
            for problem in offer.problems(calls[place], self._places[place])
        )

    _WORKED_OUT: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "_differences": _find_differences,
        "_only_pair": _find_only_pair,
        "_place": _find_place,
        "_placement": _find_placement,
        "_places": lambda self: range(len(self._calls)),
        "_schema_problems": _find_schema_problems,
        "_schemas": _check_schemas,
    }
