"""Keeps episodes: each tool's error or empty or partial answer, and what the agent did about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from toolevals.grading.layers.troubles import LONGEST_EXCERPT, TRANSIENT, ErrorClass, Trouble
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.tool_effects import Effect
from toolevals.grading.values.transcript_events import Answered, Made

Reaction = Literal[
    "corrected_retry",
    "identical_retry",
    "fallback_tool",
    "clarification",
    "escalation",
    "honest_failure",
    "fabricated_success",
    "gave_up",
    "unclear",
]

REACTIONS: Mapping[Reaction, str] = {
    "corrected_retry": "The tool was called again with other arguments.",
    "identical_retry": "The same call was sent again.",
    "fallback_tool": "Another tool that can replace the failed one was called, and answered.",
    "clarification": "The user was asked for what was missing.",
    "escalation": "The case was handed to a person.",
    "honest_failure": "The user was told that it did not work.",
    "fabricated_success": "The user was told that it worked, and it had not.",
    "gave_up": "Nothing was done and nothing was said.",
    "unclear": "Something was said, and no rule can tell whether it was about the failure.",
}
# Of a list so many elements are compared.
_MOST_ELEMENTS = 200
_DOCUMENTED: Final = (
    "tool", "error_class", "place", "excerpt", "reaction", "reactions", "recovered", "failures", "errors", "retries",
    "repeats", "identical_retries", "futile_repeats", "unasked_retries", "looped", "words",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Episode:
    """One failure and what followed, kept while the transcript is followed.

    `call` failed first, with `trouble`; `place` is that answer's message. `tried` is everything that was tried, in
    order, each once, and `settled` what settled it. `failed` are the calls that failed, and `calls` those that may have
    settled it, by reaction: both by their places among the transcript's calls. `errors` counts the failures that are
    errors (not empty or partial). `retries` counts further calls of the tool, `repeats` those of them with arguments
    that had failed before, and `identical_retries` those with no other call in between. `futile_repeats` are repeats in
    the same turn that failed again although the failure was not a passing one. `unasked_retries` are retries before the
    user spoke again. `looped` says that it went on in a row of calls that brought nothing new. `words` are those of the
    agent that tell the reaction, where it is an accusation.
    """

    call: Call
    trouble: Trouble
    place: int
    effect: Effect
    last_place: int
    last_batch: int
    failed_keys: set[str]
    last_keys: set[str]
    last_turn: int
    failed: list[int]
    errors: int
    tried: dict[Reaction, None] = field(default_factory=dict)
    calls: dict[Reaction, tuple[int, ...]] = field(default_factory=dict)
    settled: Reaction | None = None
    recovered: bool = False
    turns: int = 0
    retries: int = 0
    repeats: int = 0
    identical_retries: int = 0
    futile_repeats: int = 0
    unasked_retries: int = 0
    looped: bool = False
    words: str = ""

    @classmethod
    def begun(cls, event: Answered, trouble: Trouble, key: str, effect: Effect, turn: int) -> Episode:
        """Return the episode that begins with a bad answer to a call with these arguments."""
        made, place = event.made, event.place
        errors = int(trouble.is_error)
        return cls(made.call, trouble, place, effect, place, made.batch, {key}, {key}, turn, [made.order], errors)

    @property
    def tool(self) -> str:
        """The failed tool's name."""
        return self.call.name or ""

    @property
    def error_class(self) -> ErrorClass:
        """The class of the first failure."""
        return self.trouble.error_class

    @property
    def excerpt(self) -> str:
        """The beginning of the first bad answer."""
        return self.trouble.excerpt

    @property
    def reaction(self) -> Reaction:
        """The reaction that settled it."""
        return self.settled or ("identical_retry" if self.repeats else "gave_up")

    @property
    def reactions(self) -> tuple[Reaction, ...]:
        """The reactions that were tried, with the one that settled it."""
        return tuple({**self.tried, self.reaction: None})

    @property
    def failures(self) -> int:
        """The number of bad answers."""
        return len(self.failed)

    def to_document(self) -> dict[str, Any]:
        """Return the normal form."""
        return {name: getattr(self, name) for name in _DOCUMENTED} | {"reactions": list(self.reactions)}

    def note_retry(self, made: Made, key: str, trouble: Trouble | None, turn: int) -> None:
        """Count a further call of the tool. One made at the same time as the failed call retries nothing.

        What is sent again after the user has spoken may have been asked for.
        """
        if made.batch == self.last_batch:
            return
        in_turn, self.last_turn = turn == self.last_turn, turn
        self.retries += 1
        self.unasked_retries += in_turn
        if key not in self.failed_keys:
            self.tried.setdefault("corrected_retry")
            return
        self.tried.setdefault("identical_retry")
        self.repeats += 1
        self.identical_retries += made.batch == self.last_batch + 1 and key in self.last_keys
        self.futile_repeats += in_turn and trouble is not None and trouble.error_class not in TRANSIENT

    def note_success(self, made: Made, key: str) -> None:
        """The tool answered at last. What the user was told in between stays said."""
        self.recovered = True
        if key not in self.failed_keys:
            self.note_calls("corrected_retry", [made])
        if self.settled != "fabricated_success":
            self.settled = "identical_retry" if key in self.failed_keys else "corrected_retry"

    def note_failure(self, event: Answered, key: str, trouble: Trouble) -> None:
        """The tool failed again: what had settled the episode no longer does."""
        made = event.made
        self.errors += trouble.is_error
        self.failed.append(made.order)
        if made.batch != self.last_batch:
            self.last_keys = set()
        self.last_keys.add(key)
        self.failed_keys.add(key)
        self.last_place, self.last_batch = event.place, made.batch
        if self.settled != "fabricated_success":
            self.settled = None

    def note_calls(self, reaction: Reaction, calls: Sequence[Made]) -> None:
        """Keep the calls of a reaction, where there are any."""
        if calls:
            self.calls[reaction] = tuple(sorted(made.order for made in calls))

    def settle(self, reaction: Reaction, words: str = "") -> None:
        """Let a reaction settle the episode, told by these words of the agent."""
        self.settled, self.words = reaction, words[:LONGEST_EXCERPT]
        self.tried.setdefault(reaction)


def values_of(call: Call, *, elements: bool = False) -> frozenset[tuple[str, object]]:
    """Return the arguments that two calls can have in common, with those that stand in lists if `elements`."""
    return frozenset(
        (name, value)
        for name, given in (call.arguments.items() if isinstance(call, ToolCall) else ())
        for value in (given[:_MOST_ELEMENTS] if elements and isinstance(given, list) else [given])
        if isinstance(value, str | int | float)
    )
