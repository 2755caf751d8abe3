"""Put a decided case into words and detail when someone asks, because most grades are only counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.edge_cases import call_failure_bucket
from toolevals.grading.engine.alike_cases import Alike, AlikeKey, alike_key
from toolevals.grading.engine.arguments import (
    ALL_EQUAL,
    ALL_FIT,
    ALL_SHAPED,
    NOTHING_EXPECTED,
    arguments_reason,
    composed_arguments,
    equivalence_reason,
    schema_reason,
    shape_reason,
    with_composed,
)
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import CountedCalls, ForgivenCall
from toolevals.grading.engine.decisions import CUT, Decision
from toolevals.grading.engine.explained_calls import ExplainedCalls
from toolevals.grading.engine.layer_grading import NO_LAYERS, LayerGrades, silences
from toolevals.grading.engine.selection import (
    called_as_due,
    calls_selection,
    cut,
    no_call_selection,
    some_call_selection,
)
from toolevals.grading.matching.unseen import is_ascii
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.decided_by import CALLS, EXPECTED
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
# What is said of one call that is as expected, by what it depends on: the schema's status and the names of the tool.
_right_verdicts: dict[tuple[Status, str | None, str], Mapping[str, Verdict]] = {}
_MOST_KEPT = 1_024
NOTHING_RENAMED: Mapping[str, str] = {}
# Spellings of names that a reason speaks of.
_NAMED = 5
# What is said of one call of another tool than the only expected one.
_verdicts_on_another: Alike[Mapping[str, Verdict]] = Alike()
_NOT_EXPECTED = {"no_call": NOTHING_EXPECTED, "some_call": _ANY_CALL}


class Explanation(ExplainedCalls):
    """The fields of a decided grade (`verdicts.CaseSource`), of calls alone or (`of_transcript`) of a conversation."""

    __slots__ = ("_alike", "_composed", "_ended", "_forgiven", "_layer_details", "_layers", "_names")

    # Worked out when a field first wants them, unless they were given.
    _layers: LayerGrades
    _ended: str | None
    _forgiven: tuple[ForgivenCall, ...]
    _alike: AlikeKey | None
    _composed: tuple[str, ...]
    _layer_details: Mapping[str, Any]
    _names: Mapping[str, str]

    def __init__(
        self,
        compiled: CompiledCase,
        calls: Sequence[Call],
        decision: Decision,
        alignment: Alignment | None = None,
        renamed: Mapping[str, str] = NOTHING_RENAMED,
    ) -> None:
        self._compiled = compiled
        self._calls = calls
        self._decision = decision
        self._alignment = alignment
        self._names = renamed

    @classmethod
    def of_transcript(
        cls,
        compiled: CompiledCase,
        counted: CountedCalls,
        decision: Decision,
        alignment: Alignment | None,
        *,
        layers: LayerGrades,
        ended: str | None,
        renamed: Mapping[str, str],
    ) -> Explanation:
        """Return the fields of a conversation's grade.

        `layers` holds further layers' grades, `ended` says why the conversation was cut, None where it was not.
        `renamed` holds the offered tools' names by the ones that the calls had.
        """
        made = cls(compiled, counted.calls, decision, alignment, renamed)
        made._layers, made._ended, made._places = layers, ended, counted.places
        made._forgiven = counted.forgiven
        return made

    @property
    def statuses(self) -> Mapping[str, Status]:
        """The status of every verdict."""
        return self._decision.statuses

    @property
    def values(self) -> Mapping[str, float | None]:
        """The value of every verdict."""
        return self._decision.values

    def alike(self, compiled: CompiledCase) -> AlikeKey | None:
        """Return the key by which the grade, but its differences, is that of other cases; None where there is none.

        `compiled` is the expectation: none of another's has a key.
        """
        return self._alike if self._compiled is compiled else None

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

    def _find_alike(self) -> AlikeKey | None:
        compiled, statuses = self._compiled, self._decision.statuses
        if self._layers is not NO_LAYERS or self._ended is not None or compiled.decided_by != EXPECTED or self._names:
            return None
        if statuses["equivalence"] == "passed":
            return None if self._composed else alike_key(compiled, self._calls, is_right=True)
        if statuses["selection"] != "failed" or statuses["schema"] == "failed":
            return None
        return alike_key(compiled, self._calls, is_right=False)

    def _verdicts(self) -> Mapping[str, Verdict]:
        verdicts = {**silences(), **self._call_verdicts(), **self._layers.verdicts}
        return {name: verdicts[name] for name in self._decision.statuses}

    def _call_verdicts(self) -> Mapping[str, Verdict]:
        """Return the outcome and the verdicts on the calls."""
        if (place := self._only_place()) is None or not self._is_right():
            return self._worked_out_verdicts() if self._place_of_another() is None else self._verdicts_on_another()
        key = self._decision.statuses["schema"], self._calls[0].name, place.expectation.tool
        if (known := _right_verdicts.get(key)) is None:
            if len(_right_verdicts) >= _MOST_KEPT:
                _right_verdicts.clear()
            known = _right_verdicts[key] = self._worked_out_verdicts()
        return known

    def _verdicts_on_another(self) -> Mapping[str, Verdict]:
        """Return the same where another tool was called in place of the only expected one."""
        if (key := self._alike) is None:
            return self._worked_out_verdicts()
        known = _verdicts_on_another.get(key)
        return known or _verdicts_on_another.keep(key, self._worked_out_verdicts(), self._compiled)

    def _is_right(self) -> bool:
        """Return whether the calls are as expected, and nothing else has a say."""
        decision = self._decision
        right = decision.statuses["outcome"] == decision.statuses["equivalence"] == "passed"
        return right and decision.said_by == CALLS and not (self._layers.grades or self._composed or self._names)

    def _find_composed(self) -> tuple[str, ...]:
        """Return the arguments of right calls of which the letters are composed in another way than the expected."""
        if self._decision.statuses["equivalence"] != "passed":
            return ()
        if (place := self._only_place()) is not None:
            return composed_arguments(place.expectation, self._calls[0])
        if self._compiled.expectation.kind != "calls" or is_ascii(_given(self._calls)):
            return ()
        alignment = self.aligned()
        found = (
            composed_arguments(alignment.compiled.calls[expected].expectation, self._calls[actual])
            for expected, actual in alignment.pairs
        )
        return tuple(dict.fromkeys(name for names in found for name in names))

    def _worked_out_verdicts(self) -> Mapping[str, Verdict]:
        statuses, values = self._decision.statuses, self._decision.values
        reasons = self._reasons()
        return {name: Verdict(statuses[name], values[name], reason) for name, reason in reasons.items()}

    def _verdicts_for(self, reason: str) -> Mapping[str, Verdict]:
        statuses, values = self._decision.statuses, self._decision.values
        return {name: Verdict(status, values[name], reason) for name, status in statuses.items()}

    def _reasons(self) -> dict[str, str]:
        statuses, calls = self._decision.statuses, self._calls
        schema = schema_reason(statuses["schema"], calls, self._schemas, self._schema_problems, self._compiled.offer)
        if statuses["equivalence"] == "passed" and (place := self._only_place()) is not None:
            # No search is needed to say that nothing is wrong.
            selection: Callable[[], str] = partial(called_as_due, place.expectation.tool)
            equivalence, arguments, shape = ALL_EQUAL, ALL_FIT, ALL_SHAPED
        elif self._compiled.expectation.kind == "calls":
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

    def _find_layer_details(self) -> Mapping[str, Any]:
        if not self._forgiven:
            return self._layers.details
        forgiven = [each.to_document() for each in self._forgiven]
        return {"selection": {"counted": list(self._places), "forgiven": forgiven}, **self._layers.details}

    _WORKED_OUT: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        **ExplainedCalls._WORKED_OUT,
        "_alike": _find_alike,
        "_composed": _find_composed,
        "_forgiven": lambda _: (),
        "_layer_details": _find_layer_details,
        "_layers": lambda _: NO_LAYERS,
        "_ended": lambda _: None,
    }
    _FIELDS: ClassVar[Mapping[str, Callable[[Explanation], Any]]] = {
        "verdicts": _verdicts,
        "expected": lambda self: self._place[0],
        "actual": lambda self: self._place[1],
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
