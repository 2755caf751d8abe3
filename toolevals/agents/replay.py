"""Makes calls again in a fresh world: what gold should leave behind, and what a candidate's calls left."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolevals.agents.worlds import NotSimulatedError, Refusals, Simulator, WorldDiedError
from toolevals.grading.layers.execution import Effect
from toolevals.grading.layers.recovery import TRANSIENT, trouble_in
from toolevals.grading.matching.compiled_calls import InexactError, exact_calls
from toolevals.grading.matching.value_differences import patched
from toolevals.grading.values import Expectation, MalformedCall, ToolCall, Transcript
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.tools import Reads, reads_by_name
from toolevals.json_types import JsonMapping

# How the reason begins where the gold's own calls cannot be made.
GOLD_REFUSED = "A tool refused an expected call:"
# So often calls are made, where their simulator was away meanwhile.
TRIES = 3
NO_STATE = "The simulator keeps no state, so there is nothing to compare."


@dataclass(frozen=True, slots=True)
class Replay:
    """The effect of calls: the state before and after, None where the world keeps none or did not live that long.

    `raised` is what a tool that may change something raised on a call that no later call of it made good. `unanswered`
    names a tool behind which nothing stands; the calls after it were not made. `died` says why the world itself failed.
    """

    initial: JsonMapping | None = None
    final: JsonMapping | None = None
    raised: str | None = None
    unanswered: str | None = None
    died: str | None = None


def replay(
    simulator: Simulator, example: JsonMapping, calls: Iterable[ToolCall], reads: Reads = reads_by_name
) -> Replay:
    """Make the calls in a fresh world for an example's input, one after another. Never raises what a world raises.

    `reads` tells which tools only read: what these refuse decides nothing. Where the simulator was away meanwhile, the
    calls are made again in another world.
    """
    made = list(calls)
    for _ in range(TRIES):
        done, again = _replayed(simulator, example, made, reads)
        if not again:
            break
    return done


def _replayed(
    simulator: Simulator, example: JsonMapping, calls: Sequence[ToolCall], reads: Reads
) -> tuple[Replay, bool]:
    """Return where the calls led, and whether to make them again."""
    initial: JsonMapping | None = None
    refusals = Refusals(reads)
    try:
        with simulator.world(example) as world:
            initial = world.state()
            for call in calls:
                refusals.note(call, world.call(call))
            return Replay(initial, world.state(), refusals.unmended), False
    except NotSimulatedError as error:
        return Replay(initial, unanswered=str(error) or "a tool"), False
    except WorldDiedError as error:
        return Replay(initial, died=str(error) or "It said nothing"), error.again


def executed_calls(transcript: Transcript) -> Iterator[ToolCall]:
    """Yield the calls that were executed, as far as the transcript tells.

    Not those that no one can read, and not those that were answered by a transient failure (408, 429, 5xx, timeout):
    the tool was not reached then, and a call that was repeated after it is not to be made twice.
    """
    failed = {
        id(result.call)
        for result in transcript.results
        if (trouble := trouble_in(result.content, is_error=result.is_error)) and trouble.error_class in TRANSIENT
    }
    for call in transcript.calls:
        if not isinstance(call, MalformedCall) and id(call) not in failed:
            yield call


@dataclass(frozen=True, slots=True)
class ExpectedStates:
    """The measure of an example's calls: the state before them, and those that they may leave.

    Where there is none, `open` says why in a sentence, and `died` where the world failed on the gold itself.
    """

    initial: JsonMapping | None = None
    expected: tuple[JsonMapping, ...] = ()
    open: str = ""
    died: str | None = None

    def effect(self, done: Replay) -> Effect:
        """Return what calls that led there did to their world, to be graded."""
        if self.died is not None:
            return Effect(crashed=f"The expected calls could not be made: {self.died}")
        if done.died is not None:
            return Effect(crashed=done.died)
        silent = self.open or _silence(done)
        return Effect(self.initial, self.expected, done.final, raised=done.raised, silent=silent)


def ground(
    simulator: Simulator, example: JsonMapping, expectation: Expectation, reads: Reads = reads_by_name
) -> ExpectedStates:
    """Find out where calls should lead: to the state that the label gives, else to where its own calls lead."""
    if expectation.state is not None:
        made = replay(simulator, example, ())
        return ExpectedStates(made.initial, (expectation.state,), died=made.died)
    try:
        alternatives = exact_calls(expectation)
    except InexactError as error:
        return ExpectedStates(open=f"What the calls should lead to is left open: {error}.")
    states: list[JsonMapping] = []
    for calls in alternatives:
        made = replay(simulator, example, calls, reads)
        if made.died is not None:
            return ExpectedStates(made.initial, died=made.died)
        if silent := _silence(made):
            return ExpectedStates(made.initial, open=silent)
        if made.raised is not None:
            return ExpectedStates(made.initial, open=f"{GOLD_REFUSED} {made.raised}")
        states.append(made.final or {})
    return ExpectedStates(made.initial, tuple(states))


class Executions:
    """The effects that transcripts' calls have in a simulator's worlds; an example's gold is replayed once."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._grounds: dict[Hashable, ExpectedStates] = {}
        # The digest of the state that was asked for last: worlds mostly begin with one and the same.
        self._digested: tuple[JsonMapping, str] | None = None

    def effect(
        self,
        key: Hashable,
        example: JsonMapping,
        expectation: Expectation,
        transcript: Transcript,
        reads: Reads = reads_by_name,
    ) -> Effect:
        """Return what a transcript's calls did; `key` names the example with its expectation and tools.

        A final state, or changes since the state that this simulator begins with, which the transcript itself holds
        are believed. Else its calls are replayed. `reads` tells which tools only read.
        """
        if key not in self._grounds:
            self._grounds[key] = ground(self._simulator, example, expectation, reads)
        measured = self._grounds[key]
        if measured.died is not None or measured.open:
            return measured.effect(Replay())
        told = self._told(measured.initial, transcript)
        if told is None or _raised_in_reading(told, reads):
            told = replay(self._simulator, example, executed_calls(transcript), reads)
        return measured.effect(told)

    def _told(self, initial: JsonMapping | None, transcript: Transcript) -> Replay | None:
        if transcript.state is not None:
            return Replay(initial, transcript.state)
        changes = transcript.state_changes
        if changes is None or initial is None or changes.since != self._digest(initial):
            return None
        try:
            return Replay(initial, patched(initial, changes.patch), changes.raised)
        except InvalidDocument:
            return None

    def _digest(self, state: JsonMapping) -> str:
        if self._digested is None or self._digested[0] is not state:
            self._digested = state, digest(state)
        return self._digested[1]


def _raised_in_reading(done: Replay, reads: Reads) -> bool:
    """Return whether only the first of several refusals was kept, and it is one that decides nothing."""
    return done.raised is not None and reads(done.raised.partition(": ")[0])


def _silence(done: Replay) -> str:
    """Return why nothing is known of where calls led, empty where it is."""
    if done.unanswered is not None:
        return f"No simulator answers for {done.unanswered}, so the effect of the calls is not known."
    return NO_STATE if done.final is None else ""
