"""Put a decided case into words and detail when someone asks, because most grades are only counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.edge_cases import call_failure_bucket
from toolevals.grading.engine.arguments import (
    NOTHING_EXPECTED,
    arguments_reason,
    composed_arguments,
    equivalence_reason,
    schema_reason,
    shape_reason,
    with_composed,
)
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import ForgivenCall
from toolevals.grading.engine.decisions import CUT, Decision
from toolevals.grading.engine.explained_calls import ExplainedCalls
from toolevals.grading.engine.layer_grading import NO_LAYERS, LayerGrades, silences
from toolevals.grading.engine.selection import (
    calls_selection,
    cut,
    no_call_selection,
    some_call_selection,
)
from toolevals.grading.matching.unseen import is_ascii
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.decided_by import CALLS
from toolevals.grading.values.statuses import Status
from toolevals.grading.values.tool_names import near_miss
from toolevals.grading.values.transcripts import CUTS
from toolevals.grading.values.verdicts import UNKNOWN_TOOL, Verdict

_ANY_CALL = "Any call will do, so there are no arguments to compare."
# What a detail is that cannot be made.
_EMPTY: Mapping[str, Any] = {
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

    def detail(self, layer: str) -> Mapping[str, Any]:
        """Return what is in the grade's `details` of a layer."""
        # Of arguments there is something to work out, which the other layers have done.
        details = self.field("details" if layer == "arguments" else "layer_details")
        found: Mapping[str, Any] = details.get(layer, {})
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
            f" {cut(each.tool)} is no excess call: {cut(each.failed)} was called as expected and failed, and this was"
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

    def _details(self) -> Mapping[str, Any]:
        if self._decision.statuses["arguments"] != "failed":
            return self._layer_details
        breaks_schema = self._decision.call_mode == "schema_error"
        bucket = call_failure_bucket(self._differences, breaks_schema=breaks_schema)
        return {"arguments": {"bucket": bucket.value if bucket else ""}, **self._layer_details}

    @cached_property
    def _layer_details(self) -> Mapping[str, Any]:
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
