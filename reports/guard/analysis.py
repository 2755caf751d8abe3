"""Work out error rates of a policy's rules from checked conversations, and what of a version is not known yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Final, NamedTuple, Self
from uuid import UUID

from toolevals.grading.guard import Guard, Policy, PolicyRule
from toolevals.grading.guard.transcripts import CheckedCall, RuleRates, check_transcript, rule_rates
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.json_types import JsonMapping, JsonObject

# Of fewer calls that gold expects an error rate is not known.
FEWEST_EXPECTED: Final = FEWEST_EXAMPLES
# The kinds of rules that look at what tools answered: gold holds no answers.
READS_RESULTS: Final = ("origin",)


@dataclass(frozen=True, slots=True)
class MeasuredRule:
    """The calls that a rule would refuse: of the calls in graded runs, and of the calls that gold expects.

    `rule` is its document without the mode, so that a rule of any version with the same one has the same rates.
    """

    name: str
    rule: JsonMapping
    runs: RuleRates
    gold: RuleRates

    @classmethod
    def from_document(cls, name: str, document: JsonMapping) -> Self:
        """Read what `to_document` gave."""
        return cls(name, document["rule"], RuleRates(**document["runs"]), RuleRates(**document["gold"]))

    def to_document(self) -> JsonObject:
        """Return it as JSON."""
        return {"rule": dict(self.rule), "runs": asdict(self.runs), "gold": asdict(self.gold)}

    @property
    def is_known(self) -> bool:
        """Tell if enough calls that gold expects were seen to speak of an error rate."""
        return self.best.expected >= FEWEST_EXPECTED

    @property
    def best(self) -> RuleRates:
        """The counts, in runs or of gold, that hold more calls that gold expects: they say most of wrong refusals."""
        return self.gold if self.gold.expected > self.runs.expected else self.runs

    @property
    def wrongly(self) -> Interval | None:
        """The interval of the share of expected calls that it refuses; None where none were seen."""
        return self.best.wrongly if self.best.expected else None

    @property
    def rightly(self) -> Interval | None:
        """The interval of the share of calls in runs that gold does not expect that it refuses; None without any."""
        return self.runs.rightly if self.runs.unexpected else None

    @property
    def too_small(self) -> bool:
        """Tell if gold is too small to show an error rate of at most 1 %, whatever the rule does."""
        return self.best.gold_is_too_small


def rule_document(rule: PolicyRule) -> JsonObject:
    """Return what a rule's rates depend on: all of its document but the mode."""
    return {name: value for name, value in rule.to_document().items() if name != "mode"}


class Conversation(NamedTuple):
    """A transcript after a conversation, and by call whether gold expects it; `is_gold` where gold itself is checked.

    `case` and `revision` are ids for those who keep what was refused.
    """

    revision: UUID
    case: UUID | None
    before: Sequence[Message]
    transcript: Transcript
    expected: Sequence[bool | None]
    is_gold: bool


class RefusedCall(NamedTuple):
    """A call that a rule would refuse."""

    conversation: Conversation
    call: int
    rule: str
    pointer: str
    sentence: str


class Measuring:
    """Measures the rules of an audited policy, conversation by conversation."""

    def __init__(self, policy: Policy, guard: Guard) -> None:
        self._policy, self._guard = policy, guard
        self._checked: list[tuple[bool, list[CheckedCall], Sequence[bool | None]]] = []

    def take(self, conversation: Conversation) -> Iterator[RefusedCall]:
        """Check a conversation, and yield the calls that rules would refuse, once for each rule."""
        checked = check_transcript(self._guard, conversation.transcript, conversation.before)
        self._checked.append((conversation.is_gold, checked, conversation.expected))
        told = set()
        for each in checked:
            for reason in (*each.decision.reasons, *each.decision.would_refuse):
                known = self._expected(reason.rule, conversation.expected, is_gold=conversation.is_gold)
                if conversation.is_gold and known[each.call] is None:
                    continue
                if (each.call, reason.rule) not in told:
                    told.add((each.call, reason.rule))
                    yield RefusedCall(conversation, each.call, reason.rule, reason.pointer, reason.sentence)

    def rules(self) -> dict[str, MeasuredRule]:
        """Return the rates of each rule over what was taken."""
        return {
            name: MeasuredRule(name, rule_document(rule), self._rates(name, False), self._rates(name, True))
            for name, rule in self._policy.rules.items()
        }

    def _rates(self, name: str, is_gold: bool) -> RuleRates:
        found = (
            (checked, self._expected(name, expected, is_gold=is_gold))
            for of_gold, checked, expected in self._checked
            if of_gold == is_gold
        )
        return rule_rates([name], found)[name]

    def _expected(self, name: str, expected: Sequence[bool | None], *, is_gold: bool) -> Sequence[bool | None]:
        """Return what gold expects as far as a rule can know: after gold's first call it lacks the results."""
        if is_gold and self._policy.rules[name].rule.kind in READS_RESULTS:
            return [known if place == 0 else None for place, known in enumerate(expected)]
        return expected


def gold_transcript(calls: Iterable[ToolCall]) -> Transcript:
    """Return the calls that gold expects as one agent would make them, each in a message of its own."""
    return Transcript(tuple(Message("assistant", calls=(call,)) for call in calls))


@dataclass(frozen=True)
class VersionRates:
    """The rules of a version with the rates that are known of them, None where one was not measured."""

    policy: Policy
    measured: Mapping[str, MeasuredRule | None]

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The enforced rules whose error rates are not known, by name."""
        return tuple(
            name
            for name, rule in sorted(self.policy.rules.items())
            if rule.mode == "enforce" and not ((found := self.measured[name]) and found.is_known)
        )
