"""Works out what a policy would have refused in a transcript, and how often a rule refuses what gold expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from toolevals.grading.guard.check import Guard
from toolevals.grading.guard.conversation import GuardedConversation
from toolevals.grading.guard.policy import Policy
from toolevals.grading.guard.request import Decision, Reason, Request
from toolevals.grading.guard.rules.rule import Stage
from toolevals.grading.metrics.rates import Interval, wilson
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.call_results import Answered, Made, TurnEnded, events_of

# A rule that refuses at most this share of what gold expects has a low error rate.
LOW_RATE = 0.01


class CheckedCall(NamedTuple):
    """A decision on a call of a transcript: its place among the calls, and what was asked about."""

    call: int
    stage: Stage
    decision: Decision


def audited(policy: Policy) -> Policy:
    """Return the policy with each rule in audit, those that are off included: it tells what each would refuse.

    What is not known counts for no rule.
    """
    rules = {name: replace(rule, mode="audit") for name, rule in policy.rules.items()}
    return replace(policy, rules=rules, on_error="allow")


def check_transcript(
    guard: Guard,
    transcript: Transcript,
    conversation: Sequence[Message] = (),
    asked: Request = Request(),  # noqa: B008
    is_late: Callable[[], bool] | None = None,
) -> list[CheckedCall]:
    """Return the decision on each call of a transcript, and on each result of a call that passed, in their order.

    `conversation` is what was said before the transcript; its calls count, and are not checked. `asked` holds the key,
    model, provider, address and server. Each message of the user begins a request. A call that is refused, and a
    result that is, are not there for what comes after. A transcript has no minute: all rates are met. `is_late` tells
    if the time for all of it has passed.
    """
    whole = replace(transcript, messages=(*conversation, *transcript.messages))
    walk = _Walk(GuardedConversation(guard, asked, is_late), sum(len(message.calls) for message in conversation))
    for event in events_of(whole):
        if isinstance(event, TurnEnded):
            walk.take_turn(whole.messages[event.place] if event.place < len(whole.messages) else None)
        elif isinstance(event, Made):
            walk.take_call(event)
        elif isinstance(event, Answered):
            walk.take_result(event)
    return walk.checked


def pattern_rules(policy: Policy) -> Policy | None:
    """Return the policy's rules about patterns alone, each in audit; None where none is on."""
    rules = {
        name: replace(each, mode="audit")
        for name, each in policy.rules.items()
        if each.mode != "off" and each.rule.kind == "patterns"
    }
    return replace(policy, rules=rules, on_error="allow") if rules else None


class PatternFindings(NamedTuple):
    """Holds what patterns of a policy match in calls and results, and where they could not be searched for."""

    found: tuple[Reason, ...]
    unanswered: tuple[Reason, ...]


def pattern_findings(guard: Guard, transcript: Transcript) -> PatternFindings:
    """Return what the guard of `pattern_rules` finds in the calls of a transcript and in their results."""
    decisions = [each.decision for each in check_transcript(guard, transcript)]
    return PatternFindings(
        tuple(reason for each in decisions for reason in each.would_refuse),
        tuple(reason for each in decisions for reason in each.unanswered),
    )


class _Walk:
    """Goes through a conversation with a guard."""

    def __init__(self, held: GuardedConversation, unchecked: int) -> None:
        self._held, self._unchecked = held, unchecked
        self._places: dict[int, int] = {}
        self.checked: list[CheckedCall] = []

    def take_turn(self, message: Message | None) -> None:
        if message is not None:
            self._held.say(message)

    def take_call(self, made: Made) -> None:
        if made.order < self._unchecked:
            self._places[made.order] = self._held.remember(made.call)
            return
        decision, place = self._held.call(made.call)
        self._note(made, "call", decision)
        if decision.allowed:
            self._places[made.order] = place

    def take_result(self, answered: Answered) -> None:
        made = answered.made
        place = self._places.get(made.order)
        if place is None:
            return
        if made.order < self._unchecked:
            self._held.answer(place, answered.message)
        else:
            self._note(made, "result", self._held.result(place, answered.message))

    def _note(self, made: Made, stage: Stage, decision: Decision) -> None:
        self.checked.append(CheckedCall(made.order - self._unchecked, stage, decision))


def refused_calls(checked: Iterable[CheckedCall]) -> Iterator[CheckedCall]:
    """Yield what is refused or, by a rule in audit, would be."""
    return (each for each in checked if each.decision.reasons or each.decision.would_refuse)


@dataclass(frozen=True, slots=True)
class RuleRates:
    """Counts of a rule's refusals: of calls that gold expects, and of calls that it does not expect.

    `refused` counts all calls that it refuses, also where no one knows what gold expects.
    """

    calls: int = 0
    refused: int = 0
    expected: int = 0
    refused_expected: int = 0
    unexpected: int = 0
    refused_unexpected: int = 0

    @property
    def words(self) -> str:
        """The count in words: 14 calls, 2 of which gold expects."""
        calls = "call" if self.refused == 1 else "calls"
        return f"{self.refused:,} {calls}, {self.refused_expected:,} of which gold expects"

    @property
    def wrongly(self) -> Interval:
        """The interval of the share of expected calls that are refused; 0 to 1 where there are none."""
        return wilson(self.refused_expected, self.expected)

    @property
    def rightly(self) -> Interval:
        """The interval of the share of calls that gold does not expect that are refused."""
        return wilson(self.refused_unexpected, self.unexpected)

    @property
    def gold_is_too_small(self) -> bool:
        """Tell if even a rule that refuses nothing expected could not be shown to refuse at most 1 %."""
        return wilson(0, self.expected).high > LOW_RATE


def rule_rates(
    rules: Iterable[str], conversations: Iterable[tuple[Sequence[CheckedCall], Sequence[bool | None]]]
) -> dict[str, RuleRates]:
    """Return the rates of each rule over conversations, checked by an `audited` policy.

    With each conversation comes, by call, whether gold expects it; None where that is not known. A call counts once for
    a rule, whether the rule refuses it, its result, or both.
    """
    totals = dict.fromkeys(rules, RuleRates())
    for checked, expectations in conversations:
        refusing: dict[int, set[str]] = {}
        for each in checked:
            refusing.setdefault(each.call, set()).update(
                reason.rule for reason in (*each.decision.reasons, *each.decision.would_refuse)
            )
        for place, by in sorted(refusing.items()):
            expected = expectations[place] if place < len(expectations) else None
            for rule, rates in totals.items():
                totals[rule] = _with_call(rates, is_refused=rule in by, is_expected=expected)
    return totals


def _with_call(rates: RuleRates, *, is_refused: bool, is_expected: bool | None) -> RuleRates:
    return RuleRates(
        calls=rates.calls + 1,
        refused=rates.refused + is_refused,
        expected=rates.expected + (is_expected is True),
        refused_expected=rates.refused_expected + (is_refused and is_expected is True),
        unexpected=rates.unexpected + (is_expected is False),
        refused_unexpected=rates.refused_unexpected + (is_refused and is_expected is False),
    )
