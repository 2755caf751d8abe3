"""Following a transcript, event by event, to find its episodes and what settled them.

An episode opens at a bad answer. Later calls of the same tool that try again belong to it, until one succeeds, or the
agent ends its turn with words that settle it. One pass, linear in the transcript.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from toolevals.grading.effects_by_name import Effect, effect_of_name, hands_over
from toolevals.grading.recovery.episodes import Course, Episode, Reaction, values_of
from toolevals.grading.recovery.events import Answered, Made, Said, TurnEnded, events_of
from toolevals.grading.recovery.wording import (
    NOTHING_SAID,
    Reading,
    admits,
    read_text,
)
from toolevals.grading.troubles import TRANSIENT, ErrorClass, Trouble, trouble_in
from toolevals.grading.values import ToolSpec, Transcript

# An episode that nothing has settled for this many turns stays unsettled, unless the very call is made again.
_LONGEST_WAIT = 3
# How many open episodes of one tool are considered for a retry.
_MOST_LOOKED_AT = 16


@dataclass(slots=True)
class _Turn:
    """What the agent did since the user last spoke, as far as it can settle an episode."""

    texts: list[Said] = field(default_factory=list)
    handed_over: int = -1
    # By effect, the newest good calls of two different tools: (tool, place of the call).
    good: dict[Effect, list[tuple[str, int]]] = field(default_factory=dict)

    def note_good(self, tool: str, effect: Effect, place: int) -> None:
        newest = self.good.setdefault(effect, [])
        newest[:] = [(tool, place), *(item for item in newest if item[0] != tool)][:2]

    def other_good(self, course: Course, effects: tuple[Effect, ...]) -> bool:
        """Tell whether another tool answered well to a call made after the course's last failure."""
        return any(
            tool != course.tool and place > course.last_place
            for effect in effects
            for tool, place in self.good.get(effect, ())
        )


# What can stand in for a failed tool: what reads cannot do a writer's work, nor the other way round.
_STAND_INS: Mapping[Effect, tuple[Effect, ...]] = {
    "reads": ("reads", "unknown"),
    "writes": ("writes", "unknown"),
    "unknown": ("reads", "writes", "unknown"),
}


def episodes_of(transcript: Transcript, tools: Mapping[str, ToolSpec]) -> tuple[Episode, ...]:
    """Return the episodes of a transcript in order. `tools` by name say which ones only read; names tell otherwise."""
    follower = _Follower(tools, _answering_tools(transcript))
    for event in events_of(transcript):
        match event:
            case Answered():
                follower.answer(event)
            case Said():
                follower.turn.texts.append(event)
            case TurnEnded():
                follower.end_turn()
            case Made():
                follower.call(event)
    return tuple(course.frozen() for course in follower.courses)


def _answering_tools(transcript: Transcript) -> frozenset[str] | None:
    """Return the tools that answered with text anywhere; None where no answer is without text."""
    if all(message.content for message in transcript.messages if message.role == "tool"):
        return None
    return frozenset(
        event.made.tool
        for event in events_of(transcript)
        if isinstance(event, Answered) and (event.message.content or "").strip()
    )


class _Follower:
    """Follows one transcript, event by event."""

    def __init__(self, tools: Mapping[str, ToolSpec], answering: frozenset[str] | None) -> None:
        self.courses: list[Course] = []
        self.turn = _Turn()
        self._tools = tools
        self._answering = answering
        self._open: dict[int, Course] = {}  # not settled
        self._by_call: dict[tuple[str, str], Course] = {}  # not recovered
        self._by_tool: dict[str, dict[int, Course]] = {}  # not settled, newest last

    def call(self, made: Made) -> None:
        if self._open and hands_over(made.tool):
            self.turn.handed_over = made.place

    def answer(self, event: Answered) -> None:
        made = event.made
        trouble = self._trouble(event)
        if trouble is None and not self._by_call:
            return  # nothing is wrong and nothing was
        key = made.key
        course = self._course_of(made, key)
        if course is None:
            if trouble is not None:
                self._begin(event, trouble, key)
            elif event.message.content and not hands_over(made.tool):
                self.turn.note_good(made.tool, self._effect(made.tool), made.place)
            return
        course.note_retry(made, key, trouble)
        if trouble is None:
            self._recover(course, key)
        else:
            self._fail_again(course, event, key, trouble)

    def end_turn(self) -> None:
        if self._open:
            self._settle_open()
        self.turn = _Turn()

    def _settle_open(self) -> None:
        texts = self.turn.texts
        closing = read_text(texts[-1].text) if texts else NOTHING_SAID
        closed_at = texts[-1].place if texts else -1
        earliest = min(course.place for course in self._open.values())
        since = (said for said in reversed(texts) if said.place > earliest)
        admitted_at = next((said.place for said in since if admits(said.text)), -1)
        for course in list(self._open.values()):
            words = closing if closed_at > course.last_place else NOTHING_SAID
            reaction = self._reaction_to(course, words, admitted=admitted_at > course.place)
            course.turns += 1
            if reaction is not None:
                course.settle(reaction)
            if reaction is not None or course.turns == _LONGEST_WAIT:
                self._close(course)

    def _trouble(self, event: Answered) -> Trouble | None:
        content = event.message.content or ""
        if content.strip() or event.message.is_error:
            return trouble_in(
                content,
                is_error=event.message.is_error,
                call=event.made.call,
                effect=self._effect(event.made.tool),
            )
        spec = self._tools.get(event.made.tool)
        declared = spec is not None and spec.output_schema is not None
        expected = declared or (self._answering is not None and event.made.tool in self._answering)
        return Trouble("empty", "") if expected else None

    def _effect(self, tool: str) -> Effect:
        spec = self._tools.get(tool)
        if spec is not None and spec.annotations.read_only is not None:
            return "reads" if spec.annotations.read_only else "writes"
        return effect_of_name(tool)

    def _course_of(self, made: Made, key: str) -> Course | None:
        """Return the episode that a call belongs to: its own failure's, else the newest open one of its tool."""
        same = self._by_call.get((made.tool, key))
        if same is not None:
            return same if made.place > same.last_place or made.batch == same.last_batch else None
        values = values_of(made)
        for course in islice(reversed(self._by_tool.get(made.tool, {}).values()), _MOST_LOOKED_AT):
            if made.batch == course.last_batch:
                # Made at the same time: the same request in another form, if all that can be compared is equal.
                if course.values and course.values <= values:
                    return course
            elif made.batch > course.last_batch and _may_retry(course, values):
                return course
        return None

    def _begin(self, event: Answered, trouble: Trouble, key: str) -> None:
        course = Course.begun(event, trouble, key, self._effect(event.made.tool))
        self.courses.append(course)
        self._by_call[course.tool, key] = course
        self._reopen(course)

    def _recover(self, course: Course, key: str) -> None:
        course.note_success(key)
        self._close(course)
        for failed in course.failed_keys:
            if self._by_call.get((course.tool, failed)) is course:
                del self._by_call[course.tool, failed]

    def _fail_again(self, course: Course, event: Answered, key: str, trouble: Trouble) -> None:
        course.note_failure(event, key, trouble)
        self._by_call.setdefault((course.tool, key), course)
        if course.settled is None:
            self._reopen(course)

    def _reopen(self, course: Course) -> None:
        self._open[id(course)] = course
        self._by_tool.setdefault(course.tool, {})[id(course)] = course

    def _close(self, course: Course) -> None:
        if self._open.pop(id(course), None) is not None:
            del self._by_tool[course.tool][id(course)]

    def _reaction_to(self, course: Course, closing: Reading, *, admitted: bool) -> Reaction | None:
        """Return what settles an episode at the end of a turn; None where nothing does."""
        seen: tuple[tuple[Reaction, bool], ...] = (
            ("escalation", self.turn.handed_over > course.place or closing.escalates),
            ("fallback_tool", self.turn.other_good(course, _STAND_INS[course.effect])),
            ("clarification", closing.asks),
            ("honest_failure", admitted),
        )
        for reaction, was_seen in seen:
            if was_seen:
                course.reactions.setdefault(reaction)
        if "escalation" in course.reactions:
            return "escalation"
        return "fallback_tool" if "fallback_tool" in course.reactions else _said(course, closing, admitted=admitted)


def _may_retry(course: Course, values: frozenset[tuple[str, object]]) -> bool:
    """After a passing failure, wholly other arguments ask for something else: nothing was wrong with the first ones."""
    return course.trouble.error_class not in TRANSIENT or not course.values.isdisjoint(values)


def _said(course: Course, closing: Reading, *, admitted: bool) -> Reaction | None:
    if admitted:
        return "clarification" if closing.asks and course.trouble.error_class in _ASKABLE else "honest_failure"
    claims = (closing.claims_done and course.effect != "reads") or (closing.claims_read and course.effect == "reads")
    if claims and course.trouble.error_class != "partial":
        return "fabricated_success"
    return "clarification" if closing.asks else None


# Errors that an answer of the user can mend.
_ASKABLE: frozenset[ErrorClass] = frozenset({"400", "401", "403", "404", "empty", "partial", "unknown"})
