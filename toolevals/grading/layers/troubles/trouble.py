"""Defines a tool's trouble and the call that it is about."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.grading.layers.troubles.classes import ErrorClass
from toolevals.grading.layers.troubles.keys import about_faults
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.effects_by_name import Effect, effect_of_name, words_of_name

LONGEST_EXCERPT = 200
# So many values of a call's arguments are known again in an answer.
_MOST_ECHOED = 200


@dataclass(frozen=True, slots=True)
class Trouble:
    """An answer that is an error, or has nothing or only a part in it.

    `excerpt` is the answer's beginning. `pointer` is the JSON pointer of what tells, empty where the
    whole answer tells; `words` are what stands there, at most 200 characters.
    """

    error_class: ErrorClass
    excerpt: str
    pointer: str = ""
    words: str = ""

    @property
    def is_error(self) -> bool:
        """Tell an error from an answer that is merely empty or partial."""
        return self.error_class not in ("empty", "partial")


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The facts about the call: its tool's effect and words, and the values of its arguments."""

    effect: Effect
    words: tuple[str, ...]
    echo: frozenset[str]

    @property
    def about_faults(self) -> bool:
        """Return whether the tool was asked for faults, so that faults in its answer are none of its own."""
        return about_faults(self.words)

    def echoes(self, value: object) -> bool:
        """Return whether a value of the answer is one of the call's arguments."""
        return isinstance(value, str | int | float) and str(value).casefold() in self.echo


UNKNOWN_CALL = CallFacts("unknown", (), frozenset())


def call_facts_of(call: Call | None, effect: Effect | None = None) -> CallFacts:
    """Return what is known of a call; its tool's effect by its name where `effect` is not given."""
    if call is None or not call.name:
        return UNKNOWN_CALL if effect is None else CallFacts(effect, (), frozenset())
    words = words_of_name(call.name)
    echo = _leaves(call.arguments) if isinstance(call, ToolCall) else frozenset()
    return CallFacts(effect or effect_of_name(call.name), words, echo)


def _leaves(value: object) -> frozenset[str]:
    found: set[str] = set()
    waiting = [value]
    while waiting and len(found) < _MOST_ECHOED:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting.extend(list(each.values())[:_MOST_ECHOED])
        elif isinstance(each, list | tuple):
            waiting.extend(each[:_MOST_ECHOED])
        elif isinstance(each, str) and len(each) <= LONGEST_EXCERPT:
            found.add(each.casefold())
        elif isinstance(each, int | float) and not isinstance(each, bool) and abs(each) < 1e300:
            found.add(str(each))
    return frozenset(found)
