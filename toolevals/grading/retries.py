"""The calls that count: one that is made again, alike, after it failed for a passing reason, counts once.

Sending a call again says nothing new about tools and arguments; whether it was wise is the recovery layer's question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from toolevals.grading.recovery.events import Answered, Made, arguments_key, events_of
from toolevals.grading.recovery.troubles import TRANSIENT, trouble_in
from toolevals.grading.values import Call, Message, ToolCall, Transcript


@dataclass(frozen=True, slots=True)
class CountedCalls:
    """The calls that count, in the order that counts, and the place of each among all calls of the transcript."""

    calls: tuple[Call, ...]
    places: tuple[int, ...]


def counted_calls(transcript: Transcript) -> CountedCalls:
    """Return the calls of a transcript, each try that was made again in vain left out.

    A call takes the place of an earlier one of the same tool with equal arguments (equal as JSON, to the letter) whose
    answer, which came before it, was a passing failure (408, 429, 5xx, timeout; see `recovery.trouble_in`). Each takes
    the place of one: in the newest message that has such a call, of the earliest. So of two calls that failed at one
    time, one that is made again leaves the other standing.

    The last try is the one that counts. Where it came with the agent's very next calls it stands where the first
    stood, as those that were made beside it could not wait for it; else it stands where it was made.
    """
    calls = transcript.calls
    if not _may_repeat(transcript, calls):
        return CountedCalls(calls, tuple(range(len(calls))))
    tries = _Tries()
    for event in events_of(transcript):
        if isinstance(event, Made):
            tries.note_call(event)
        elif isinstance(event, Answered) and _failed_in_passing(event.message):
            tries.note_failure(event.made)
    places = tuple(place for place in tries.order if place is not None)
    return CountedCalls(tuple(calls[place] for place in places), places)


def _may_repeat(transcript: Transcript, calls: Sequence[Call]) -> bool:
    """Tell whether two calls are alike and a tool answered: cheap, because most transcripts have no such calls."""
    if len(calls) < 2 or all(message.role != "tool" for message in transcript.messages):
        return False
    names = Counter(call.name for call in calls)
    alike = Counter(_key(call) for call in calls if names[call.name] > 1)
    return any(count > 1 for count in alike.values())


def _failed_in_passing(message: Message) -> bool:
    trouble = trouble_in(message.content or "", is_error=message.is_error)
    return trouble is not None and trouble.error_class in TRANSIENT


def _key(call: Call) -> tuple[str | None, str]:
    return call.name, arguments_key(call)


class _Tries:
    """The calls so far. `order` holds the place of each that counts, and None where a try stood that was moved."""

    def __init__(self) -> None:
        self.order: list[int | None] = []
        self._stands: dict[int, int] = {}
        # By tool and arguments, those that wait to be made again: of the newest message first, there the earliest.
        self._failed: dict[tuple[str | None, str], list[tuple[int, int]]] = {}

    def note_call(self, made: Made) -> None:
        waiting = self._failed.get(_key(made.call))
        stand = len(self.order)
        if waiting:
            less_batch, failed = heappop(waiting)
            if made.batch - 1 == -less_batch:
                stand = self._stands[failed]
            self.order[self._stands[failed]] = None
        self.order[stand : stand + 1] = [made.order]
        self._stands[made.order] = stand

    def note_failure(self, made: Made) -> None:
        if isinstance(made.call, ToolCall):
            heappush(self._failed.setdefault(_key(made.call), []), (-made.batch, made.order))
