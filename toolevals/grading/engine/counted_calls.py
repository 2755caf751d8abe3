"""Finds the calls that count: a call that failed and was made again counts once, with the last try's arguments.

Sending a call again says nothing new about tools; whether it was wise is the recovery layer's question. Where an
expected call failed, the call by which recovery accepts the reaction does not count either.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from heapq import heapify, heappop, heappush

from toolevals.grading.alignment.trajectory import Alignment, best_alignment
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.layers.recovery import Recovery, grade_recovery
from toolevals.grading.layers.troubles import TRANSIENT, trouble_in
from toolevals.grading.values import Call, ToolCall, Transcript
from toolevals.grading.values.call_results import Answered, Made, Results, arguments_key, events_of, results_of
from toolevals.grading.values.thoughts import spoken
from toolevals.grading.values.tools import hands_over
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import UNKNOWN_TOOL
from toolevals.json_types import JsonMapping, JsonObject

_WORD = re.compile(r"[a-z]+|[0-9]+")
# Of what a tool said as it failed.
_LONGEST_SAID = 4_000
# Failed calls of a tool that wait to be made again with other arguments: the newest ones are looked at.
_MOST_WAITING = 8


@value_class
class ForgivenCall:
    """A call that does not count: by it the agent reacted rightly to an expected call that had failed (`after`).

    `call` and `after` are places among the calls of the transcript, `tool` and `failed` the names of their tools.
    """

    call: int
    tool: str
    reaction: str
    after: int
    failed: str

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"call": self.call, "tool": self.tool, "reaction": self.reaction, "after": self.after}


@value_class
class CountedCalls:
    """The calls that count, in the order that counts, and the place of each among all calls of the transcript."""

    calls: tuple[Call, ...]
    places: tuple[int, ...]
    forgiven: tuple[ForgivenCall, ...] = ()

    def results(self, compiled: CompiledCase, transcript: Transcript) -> Results:
        """Return what the calls were answered, by their places; nothing where the expectation refers to no result."""
        return results_of(transcript, self.places) if compiled.refers else ()

    def aligned(self, compiled: CompiledCase, transcript: Transcript) -> Alignment:
        """Return the best alignment of the calls with an expectation of calls."""
        return best_alignment(compiled.trajectories, self.calls, compiled.profile, self.results(compiled, transcript))


def has_answers(transcript: Transcript) -> bool:
    """Tell whether any tool answered."""
    return any(message.role == "tool" for message in transcript.messages)


def recovery_of(compiled: CompiledCase, transcript: Transcript) -> Recovery:
    """Return the grade of what the agent did after each failure, by the example's reactions and the offered tools."""
    return grade_recovery(transcript, reactions=compiled.expectation.reactions, tools=compiled.offer.tools)


def calls_that_count(compiled: CompiledCase, transcript: Transcript, recovery: Recovery | None = None) -> CountedCalls:
    """Return the calls of a transcript that are graded, by the rules of "which calls count" in `docs/grading.md`.

    `recovery` is the `recovery_of` what was said, worked out here where it is not known.
    """
    attempts = attempts_that_count(compiled, transcript)
    if compiled.expectation.kind != "calls" or len(transcript.calls) < 2 or not has_answers(transcript):
        return attempts
    if recovery is None:
        recovery = recovery_of(compiled, spoken(transcript))
    if not any(graded.score == 1 and graded.episode.calls for graded in recovery.episodes):
        return attempts
    fewer, more = (
        _without_forgiven(compiled, transcript, each, recovery)
        for each in (attempts, counted_calls(transcript, lasting=False))
    )
    if more.places == fewer.places or not more.forgiven:
        return fewer
    return max(fewer, more, key=lambda each: each.aligned(compiled, transcript).merit)


def _without_forgiven(
    compiled: CompiledCase, transcript: Transcript, counted: CountedCalls, recovery: Recovery
) -> CountedCalls:
    """Return the calls without those by which the agent reacted rightly to the failure of an expected call.

    Each failed call of an episode was as expected, arguments included. Of each right reaction one call goes: the first
    that is put to no expected call, and may be forgiven. None that failed is.
    """
    alignment = counted.aligned(compiled, transcript)
    as_expected = {
        _key(counted.calls[actual])
        for (_, actual), check in zip(alignment.pairs, alignment.checks, strict=True)
        if check.proved and not compiled.offer.breaks_schema(counted.calls[actual])
    }
    calls, right = transcript.calls, compiled.expectation.reactions
    left = {counted.places[actual] for actual in alignment.unmatched_actual}
    left = {place for place in left if _may_be_forgiven(compiled, calls[place])}
    left.difference_update(*(graded.episode.failed for graded in recovery.episodes))
    forgiven = []
    for episode in (graded.episode for graded in recovery.episodes if graded.score == 1):
        failed = {_key(calls[place]) for place in episode.failed}
        if episode.errors < episode.failures or not as_expected.issuperset(failed):
            continue
        for reaction, places in episode.calls.items():
            found = next((place for place in places if place in left), None)
            if found is not None and (not right or reaction in right):
                left.remove(found)
                after = max(each for each in episode.failed if each < found)
                forgiven.append(ForgivenCall(found, calls[found].name or "", reaction, after, episode.tool))
    if not forgiven:
        return counted
    gone = {each.call for each in forgiven}
    kept = _counted(calls, tuple(place for place in counted.places if place not in gone))
    return replace(kept, forgiven=tuple(forgiven))


def _may_be_forgiven(compiled: CompiledCase, call: Call) -> bool:
    """Tell whether a call can have done no harm: it only reads, hands over to people, or is one that the gold knows.

    It is a call of an offered tool by that tool's schema, and no alternative disallows it.
    """
    offer = compiled.offer
    if not isinstance(call, ToolCall) or offer.class_of(call) == UNKNOWN_TOOL or offer.breaks_schema(call):
        return False
    name, known = compiled.profile.tool_name(call.name), False
    for trajectory in compiled.trajectories:
        if any(each.name == name and not each.check(call.arguments).faults for each in trajectory.disallowed):
            return False
        options = (option for place in range(len(trajectory.calls)) for option in trajectory.options(place))
        known = known or any(each.name == name and each.check(call.arguments).proved for each in options)
    return known or offer.reads(call.name) or hands_over(call.name)


def attempts_that_count(compiled: CompiledCase, transcript: Transcript) -> CountedCalls:
    """Return the calls of a transcript, a failed try that was made again once.

    A try that failed for good and was made again is one attempt with its new try, unless it serves an expected call
    that no other call serves so well: where two calls are expected, a refused one may be one of them.
    """
    attempts = counted_calls(transcript)
    if len(attempts.calls) == len(transcript.calls) or compiled.expectation.kind != "calls":
        return attempts
    single = counted_calls(transcript, lasting=False)
    if len(single.calls) == len(attempts.calls):
        return attempts
    fewer, more = (each.aligned(compiled, transcript) for each in (attempts, single))
    kept = _kept(single, attempts, more)
    best = kept.aligned(compiled, transcript)
    return kept if best.merit > fewer.merit else attempts


def counted_calls(transcript: Transcript, *, lasting: bool = True) -> CountedCalls:
    """Return the calls of a transcript, each try that was made again left out.

    A call takes the place of an earlier one of the same tool, whose answer came before it and was

    - a passing failure (408, 429, 5xx, timeout; see `recovery.trouble_in`), with equal arguments (equal as JSON, to the
      letter);
    - if `lasting`, another error, with equal arguments, or with ones that differ where the error speaks of them: it is
      of the class 400, or names an argument that differs, or its value.

    Each takes the place of one: in the newest message that has such a call, of the earliest. So of two calls that
    failed at one time, one that is made again leaves the other standing.

    The last try is the one that counts. Where it came with the agent's very next calls it stands where the first
    stood, as those that were made next to it could not wait for it; else it stands where it was made.
    """
    calls = transcript.calls
    if not _may_repeat(transcript, calls, lasting=lasting):
        return CountedCalls(calls, tuple(range(len(calls))))
    tries = _Tries(lasting=lasting)
    for event in events_of(transcript):
        if isinstance(event, Made):
            tries.note_call(event)
        elif isinstance(event, Answered):
            tries.note_answer(event)
    return _counted(calls, tuple(place for place in tries.order if place is not None))


def _counted(calls: tuple[Call, ...], places: tuple[int, ...]) -> CountedCalls:
    return CountedCalls(tuple(calls[place] for place in places), places)


def _kept(single: CountedCalls, attempts: CountedCalls, alignment: Alignment) -> CountedCalls:
    """Return the calls without the failed tries that no expected call is put to."""
    last = set(attempts.places)
    served = {actual for _, actual in alignment.pairs}
    stands = [number for number, place in enumerate(single.places) if place in last or number in served]
    return CountedCalls(tuple(single.calls[each] for each in stands), tuple(single.places[each] for each in stands))


def _may_repeat(transcript: Transcript, calls: tuple[Call, ...], *, lasting: bool) -> bool:
    """Tell whether a call may have been made again: cheap, because in most transcripts none was."""
    if len(calls) < 2 or not has_answers(transcript):
        return False
    names = Counter(call.name for call in calls)
    if lasting:
        return any(count > 1 for count in names.values())
    alike = Counter(_key(call) for call in calls if names[call.name] > 1)
    return any(count > 1 for count in alike.values())


def _key(call: Call) -> tuple[str | None, str]:
    return call.name, arguments_key(call)


@value_class
class _Failure:
    """A call that failed for good, and what its tool said."""

    made: Made
    arguments: JsonMapping | None  # None of a call that no one can read
    error_class: str
    said: str

    def is_mended_by(self, made: Made) -> bool:
        """Tell whether a later call is the same attempt: with arguments that differ where the error speaks of them."""
        if not isinstance(made.call, ToolCall) or made.batch <= self.made.batch:
            return False
        if self.arguments is None:
            return True
        new = made.call.arguments
        differing = [name for name in {**self.arguments, **new} if not _same(self.arguments, new, name)]
        return self.error_class == "400" or any(self._names(name, self.arguments.get(name)) for name in differing)

    def _names(self, argument: str, value: object) -> bool:
        said = f" {' '.join(_WORD.findall(self.said))} "
        words = [argument] if isinstance(value, dict | list | bool | None) else [argument, str(value)[:_LONGEST_SAID]]
        spelt = (" ".join(_WORD.findall(word.casefold())) for word in words)
        return any(word and f" {word} " in said for word in spelt)


def _same(one: JsonMapping, other: JsonMapping, name: str) -> bool:
    return name in one and name in other and type(one[name]) is type(other[name]) and bool(one[name] == other[name])


class _Tries:
    """The calls so far. `order` holds the place of each that counts, and None where a try stood that was moved."""

    def __init__(self, *, lasting: bool) -> None:
        self.order: list[int | None] = []
        self._lasting = lasting
        self._stands: dict[int, int] = {}
        # By tool and arguments, those that wait to be made again: of the newest message first, there the earliest.
        self._failed: dict[tuple[str | None, str], list[tuple[int, int]]] = {}
        # By tool, those that failed for good.
        self._refused: dict[str, list[_Failure]] = {}

    def note_call(self, made: Made) -> None:
        stand = len(self.order)
        if (failed := self._made_again(made)) is not None:
            batch, place = failed
            if made.batch - 1 == batch:
                stand = self._stands[place]
            self.order[self._stands[place]] = None
        self.order[stand : stand + 1] = [made.order]
        self._stands[made.order] = stand

    def note_answer(self, answered: Answered) -> None:
        made, message = answered.made, answered.message
        trouble = trouble_in(message.content or "", is_error=message.is_error)
        if trouble is None or not trouble.is_error:
            return
        is_passing = trouble.error_class in TRANSIENT
        arguments = made.call.arguments if isinstance(made.call, ToolCall) else None
        if arguments is None and is_passing:
            return  # What no one can read never reached the tool.
        if is_passing or self._lasting:
            heappush(self._failed.setdefault(_key(made.call), []), (-made.batch, made.order))
        if self._lasting and not is_passing:
            said = (message.content or "")[:_LONGEST_SAID].casefold()
            failure = _Failure(made, arguments, trouble.error_class, said)
            self._refused[made.tool] = [*self._refused.get(made.tool, []), failure][-_MOST_WAITING:]

    def _made_again(self, made: Made) -> tuple[int, int] | None:
        """Return the batch and the place of the failed call that this one makes again, and let it wait no more."""
        if waiting := self._failed.get(_key(made.call)):
            less_batch, place = heappop(waiting)
            self._refused[made.tool] = [each for each in self._refused.get(made.tool, ()) if each.made.order != place]
            return -less_batch, place
        found = [each for each in self._refused.get(made.tool, ()) if each.is_mended_by(made)]
        if not found:
            return None
        newest = max(each.made.batch for each in found)
        failed = next(each for each in found if each.made.batch == newest).made
        self._refused[made.tool] = [each for each in self._refused[made.tool] if each.made is not failed]
        same = self._failed[_key(failed.call)]
        same.remove((-failed.batch, failed.order))
        heapify(same)
        return failed.batch, failed.order
