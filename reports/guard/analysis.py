"""Work out error rates of a policy's rules from checked conversations, and what of a version is not known yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Final, Literal, NamedTuple, Self
from uuid import UUID

from toolevals.grading.guard import Guard, Policy, PolicyRule
from toolevals.grading.guard.transcripts import CheckedCall, RuleRates, check_transcript, rule_rates
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.rates import Interval, wilson
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.json_types import JsonMapping, JsonObject

# Of fewer calls that gold expects an error rate is not known.
FEWEST_EXPECTED: Final = FEWEST_EXAMPLES
# The kinds of rules that look at what tools answered: gold holds no answers.
READS_RESULTS: Final = ("origin",)
# Where calls are recorded that rules are asked about.
Source = Literal["runs", "gold", "traces"]
SOURCES: Final[tuple[Source, ...]] = ("traces", "runs", "gold")


@dataclass(frozen=True, slots=True)
class Judged:
    """The numbers of refused calls that people read, and of those that they say should have been allowed.

    A call counts by what most of its readers say; `split` counts those on which as many say one thing as the other.
    """

    calls: int = 0
    false: int = 0
    split: int = 0

    @property
    def share(self) -> float | None:
        """The share of false refusals; None where none was read."""
        return self.false / self.calls if self.calls else None

    @property
    def interval(self) -> Interval | None:
        """The interval of that share."""
        return wilson(self.false, self.calls) if self.calls else None


def judged_of(marks: Iterable[Sequence[bool]]) -> Judged:
    """Return what people say of refused calls: by call what each of its readers says, true for a false refusal."""
    found = [(sum(said), len(said)) for said in marks if said]
    split = sum(2 * false == readers for false, readers in found)
    return Judged(len(found) - split, sum(2 * false > readers for false, readers in found), split)


@dataclass(frozen=True, slots=True)
class MeasuredRule:
    """The calls that a rule would refuse: in graded runs, of the calls that gold expects, and in traces.

    `rule` is its document without the mode, so that a rule of any version with the same one has the same rates.
    `traces` are None where no traces were asked for. `judged` is what people say of what it refuses, by where it is.
    """

    name: str
    rule: JsonMapping
    runs: RuleRates
    gold: RuleRates
    traces: RuleRates | None = None
    judged: Mapping[Source, Judged] = field(default_factory=dict)

    @classmethod
    def from_document(cls, name: str, document: JsonMapping) -> Self:
        """Read what `to_document` gave."""
        traces = document.get("traces")
        rates = (RuleRates(**document["runs"]), RuleRates(**document["gold"]), RuleRates(**traces) if traces else None)
        return cls(name, document["rule"], *rates)

    def to_document(self) -> JsonObject:
        """Return it as JSON."""
        found = {"rule": dict(self.rule), "runs": asdict(self.runs), "gold": asdict(self.gold)}
        return found | ({"traces": asdict(self.traces)} if self.traces is not None else {})

    @property
    def is_known(self) -> bool:
        """Tell if enough is known to speak of an error rate: of calls that gold expects, or of read traces."""
        return self.best.expected >= FEWEST_EXPECTED or self.is_read

    @property
    def is_read(self) -> bool:
        """Tell if people agree on each call that it refuses in traces, and there are enough calls in them."""
        found = self.traces
        return found is not None and found.calls >= FEWEST_EXPECTED and self.in_traces.calls >= found.refused

    @property
    def in_traces(self) -> Judged:
        """The numbers of what people read of its refusals in traces."""
        return self.judged.get("traces", Judged())

    @property
    def everywhere(self) -> Judged:
        """The numbers of what people read of all its refusals."""
        parts = self.judged.values()
        return Judged(*(sum(getattr(part, name) for part in parts) for name in ("calls", "false", "split")))

    @property
    def of_traces(self) -> Interval | None:
        """The interval of the share of calls in traces that it refuses; None where none were seen."""
        return wilson(self.traces.refused, self.traces.calls) if self.traces and self.traces.calls else None

    @property
    def best(self) -> RuleRates:
        """The counts, in runs or of gold, that hold more calls that gold expects: they say most of wrong refusals."""
        return self.gold if self.gold.expected > self.runs.expected else self.runs

    @property
    def best_source(self) -> Source:
        """The source that these counts are from."""
        return "gold" if self.best is self.gold else "runs"

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
    """A transcript after a conversation, where it is from, and by call whether gold expects it.

    `case`, `revision` and `trace` are ids for those who keep what was refused.
    """

    source: Source
    before: Sequence[Message]
    transcript: Transcript
    expected: Sequence[bool | None]
    revision: UUID | None = None
    case: UUID | None = None
    trace: UUID | None = None

    @property
    def is_gold(self) -> bool:
        """Tell if gold itself is checked."""
        return self.source == "gold"


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
        self._checked: list[tuple[Source, list[CheckedCall], Sequence[bool | None]]] = []

    def take(self, conversation: Conversation) -> Iterator[RefusedCall]:
        """Check a conversation, and yield the calls that rules would refuse, once for each rule."""
        checked = check_transcript(self._guard, conversation.transcript, conversation.before)
        self._checked.append((conversation.source, checked, conversation.expected))
        told = set()
        for each in checked:
            for reason in (*each.decision.reasons, *each.decision.would_refuse):
                known = self._expected(reason.rule, conversation.expected, is_gold=conversation.is_gold)
                if conversation.is_gold and known[each.call] is None:
                    continue
                if (each.call, reason.rule) not in told:
                    told.add((each.call, reason.rule))
                    yield RefusedCall(conversation, each.call, reason.rule, reason.pointer, reason.sentence)

    def rules(self, *, with_traces: bool) -> dict[str, MeasuredRule]:
        """Return the rates of each rule over what was taken; those in traces where these were asked for."""
        return {
            name: MeasuredRule(
                name,
                rule_document(rule),
                self._rates(name, "runs"),
                self._rates(name, "gold"),
                self._rates(name, "traces") if with_traces else None,
            )
            for name, rule in self._policy.rules.items()
        }

    def _rates(self, name: str, source: Source) -> RuleRates:
        found = (
            (checked, self._expected(name, expected, is_gold=source == "gold"))
            for of, checked, expected in self._checked
            if of == source
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

    @cached_property
    def untraced(self) -> tuple[str, ...]:
        """The enforced rules of known error rates of which no one knows what they would refuse in traces, by name."""
        return tuple(
            name
            for name, rule in sorted(self.policy.rules.items())
            if rule.mode == "enforce" and (found := self.measured[name]) and found.is_known and found.traces is None
        )
