"""Compare other evaluators' verdicts with ours: pass rates, agreement of any two, and why they differ.

Everything is counted from patterns: the verdicts that a case got, ours first. Passed, failed, unscored and errored are
told apart throughout; two tools are compared over the cases that both of them scored.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Self

from reports.rates import ExampleSums, Rate, rate
from toolevals.grading.dialects.other_verdicts import OURS, UNEXPLAINED, OtherVerdict, ToolevalsVerdict, sentence_of
from toolevals.grading.metrics.agreement import clustered_kappa
from toolevals.grading.metrics.rates import Estimate
from toolevals.grading.values.verdicts import Status
from toolevals.json_types import JsonMapping
from toolevals.presentation.palettes import ALL_RIGHT, heat_step

LETTERS: Final[Mapping[Status, str]] = {"passed": "p", "failed": "f", "unscored": "u", "errored": "e"}
STATUSES: Final[Mapping[str, Status]] = {letter: status for status, letter in LETTERS.items()}
# Beside the four statuses, what a list of cases may ask of two tools.
AGREE, DIFFER = "agree", "differ"
# A disagreement of two tools on a case of which we have no verdict to explain it by.
NO_VERDICT_OF_OURS: Final = "no_verdict_of_ours"
# Sums over the examples by two tools, of the cases on which they agree; and by one and "", of those that it passes.
PatternSums = Mapping[tuple[str, str], ExampleSums]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The verdicts on a case: statuses with OURS first, then by column; and why a column differs from ours, if so.

    As text: a letter each (p, f, u, e), with `:` and the reason's name where there is one, joined by `;`.
    """

    statuses: tuple[Status, ...]
    reasons: tuple[str, ...]

    @classmethod
    def of_case(cls, own: ToolevalsVerdict, others: Iterable[OtherVerdict]) -> Self:
        """Return the pattern of a case."""
        found = list(others)
        return cls((own.status, *(each.status for each in found)), ("", *(each.reason for each in found)))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return what `str` gave."""
        parts = [part.partition(":") for part in text.split(";")]
        return cls(tuple(STATUSES[letter] for letter, _, _ in parts), tuple(reason for _, _, reason in parts))

    def __str__(self) -> str:
        parts = (LETTERS[status] + (f":{reason}" if reason else "") for status, reason in zip(*self._both, strict=True))
        return ";".join(parts)

    @property
    def _both(self) -> tuple[tuple[Status, ...], tuple[str, ...]]:
        return self.statuses, self.reasons

    def relation(self, one: int, other: int) -> str:
        """Return whether two tools agree or differ here; empty where either has no score."""
        pair = {self.statuses[one], self.statuses[other]}
        if not pair <= {"passed", "failed"}:
            return ""
        return AGREE if len(pair) == 1 else DIFFER

    def reason(self, one: int, other: int) -> str:
        """Return why two tools differ here: of two that do, just one differs from us, and that one's reason it is."""
        if self.statuses[0] not in ("passed", "failed"):
            return NO_VERDICT_OF_OURS
        return self.reasons[one] or self.reasons[other] or UNEXPLAINED


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """The reason why two tools differ: its name, its sentence, whose rule it is, and on how many cases each passes."""

    name: str
    sentence: str
    rule_of: str
    one_passes: int
    other_passes: int

    @property
    def key(self) -> str:
        """The reason as a list of cases asks for it: its name, and after `@` whose rule it is."""
        return f"{self.name}@{self.rule_of}" if self.rule_of else self.name

    @property
    def count(self) -> int:
        return self.one_passes + self.other_passes


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two tools over the cases that both scored: how often they agree, kappa, and why they differ."""

    one: str
    other: str
    agreement: Rate
    kappa: Estimate
    reasons: tuple[ReasonRow, ...]

    @property
    def differ(self) -> int:
        return self.agreement.total - self.agreement.passed

    @property
    def step(self) -> str:
        """The step of the heat, by the share of cases on which they differ."""
        return heat_step(self.differ, self.agreement.total, right=False) if self.differ else ALL_RIGHT


@dataclass(frozen=True, slots=True)
class ToolVerdicts:
    """The verdicts of one tool on the cases. `column` is the document of its column, None for ours."""

    key: str
    column: JsonMapping | None
    rate: Rate
    unscored: int
    errored: int
    mean: float | None
    beside_ours: PairRow | None

    @property
    def failed(self) -> int:
        return self.rate.total - self.rate.passed

    @property
    def options(self) -> str:
        """The options of its column as JSON; nothing where it has none."""
        return json.dumps(self.column["options"]) if self.column and self.column["options"] else ""


@dataclass(frozen=True, slots=True)
class Dialects:
    """A grading's cases by every tool, ours first."""

    cases: int
    tools: tuple[ToolVerdicts, ...]
    patterns: tuple[tuple[Pattern, int], ...]
    sums: PatternSums

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(tool.key for tool in self.tools)

    def pair(self, one: str, other: str) -> PairRow:
        """Return two tools next to each other. Raises ValueError on one that is not here."""
        return _pair(self.patterns, self.keys, one, other, self.sums)

    @property
    def pairs(self) -> Iterator[PairRow]:
        """Every two tools once, in their order."""
        for place, one in enumerate(self.keys):
            for other in self.keys[place + 1 :]:
                yield self.pair(one, other)

    @property
    def matrix(self) -> list[tuple[ToolVerdicts, list[PairRow | None]]]:
        """A row for each tool with a cell for each; None where a tool meets itself."""
        by_name = {(pair.one, pair.other): pair for pair in self.pairs}
        by_name |= {(other, one): pair for (one, other), pair in list(by_name.items())}
        return [(tool, [by_name.get((tool.key, key)) for key in self.keys]) for tool in self.tools]

    @property
    def most_different(self) -> ToolVerdicts | None:
        """The tool that differs from ours on most cases; None where none scored anything."""
        others = [tool for tool in self.tools if tool.beside_ours and tool.beside_ours.agreement.total]
        return max(others, key=lambda tool: tool.beside_ours.differ if tool.beside_ours else 0, default=None)


def dialects_of(
    columns: Sequence[JsonMapping],
    counts: Iterable[Sequence[Any]],
    means: Mapping[str, float | None],
    sums: PatternSums = MappingProxyType({}),
) -> Dialects:
    """Return what is counted from `[pattern, cases]` over the columns, in their order; `sums` of several trials."""
    patterns = tuple((Pattern.from_text(text), count) for text, count in counts)
    keys = (OURS, *(column["key"] for column in columns))
    tools = []
    for place, key in enumerate(keys):
        statuses: Counter[Status] = Counter()
        for pattern, count in patterns:
            statuses[pattern.statuses[place]] += count
        tools.append(
            ToolVerdicts(
                key=key,
                column=columns[place - 1] if place else None,
                rate=rate(statuses["passed"], statuses["passed"] + statuses["failed"], sums.get((key, ""))),
                unscored=statuses["unscored"],
                errored=statuses["errored"],
                mean=means.get(key),
                beside_ours=_pair(patterns, keys, OURS, key, sums) if place else None,
            )
        )
    return Dialects(sum(count for _, count in patterns), tuple(tools), patterns, sums)


def pattern_sums(keys: Sequence[str], examples: Iterable[tuple[Sequence[Pattern], int]]) -> PatternSums:
    """Return the sums over the examples: the patterns of an example's cases, and how many examples have these."""
    tallies: defaultdict[tuple[str, str], Counter[tuple[int, int]]] = defaultdict(Counter)
    for patterns, count in examples:
        for place, one in enumerate(keys):
            said = Counter(pattern.statuses[place] for pattern in patterns)
            tallies[one, ""][said["passed"] + said["failed"], said["passed"]] += count
            for second in range(place + 1, len(keys)):
                how = Counter(pattern.relation(place, second) for pattern in patterns)
                tallies[one, keys[second]][how[AGREE] + how[DIFFER], how[AGREE]] += count
    return {key: ExampleSums.of(each) for key, each in tallies.items()}


def _pair(
    patterns: Sequence[tuple[Pattern, int]], keys: Sequence[str], one: str, other: str, sums: PatternSums
) -> PairRow:
    first, second = keys.index(one), keys.index(other)
    ratings: Counter[tuple[Status, Status]] = Counter()
    reasons: dict[tuple[str, str], Counter[Status]] = {}
    for pattern, count in patterns:
        relation = pattern.relation(first, second)
        if relation:
            ratings[pattern.statuses[first], pattern.statuses[second]] += count
        if relation == DIFFER:
            name = pattern.reason(first, second)
            rule_of = one if pattern.reasons[first] else other if pattern.reasons[second] else ""
            reasons.setdefault((name, rule_of), Counter())[pattern.statuses[first]] += count
    both = sums.get((one, other)) or sums.get((other, one))
    agreed = sum(count for (left, right), count in ratings.items() if left == right)
    rows = (
        ReasonRow(name, reason_sentence(name), rule_of, passed["passed"], passed["failed"])
        for (name, rule_of), passed in reasons.items()
    )
    return PairRow(
        one,
        other,
        rate(agreed, ratings.total(), both),
        clustered_kappa(ratings, both),
        tuple(sorted(rows, key=lambda row: (-row.count, row.name, row.rule_of))),
    )


def reason_sentence(name: str) -> str:
    """Return a reason as a sentence."""
    if name == NO_VERDICT_OF_OURS:
        return "We have no verdict on these calls to compare the rules with."
    return sentence_of(name)


def patterns_like(dialects: Dialects, one: str, other: str, how: str, reason: str = "") -> list[str]:
    """Return the texts of the patterns of a list of cases, empty where a tool is not here.

    `how` is a status of `one`, or AGREE or DIFFER with `other`; `reason` takes of those that differ the ones with that
    key of a ReasonRow.
    """
    keys = dialects.keys
    if one not in keys or other not in keys:
        return []
    first, second = keys.index(one), keys.index(other)
    return [
        str(pattern)
        for pattern, _ in dialects.patterns
        if how in (pattern.relation(first, second), pattern.statuses[first])
        and (
            not reason
            or (pattern.relation(first, second) == DIFFER and _reason(pattern, keys, first, second) == reason)
        )
    ]


def _reason(pattern: Pattern, keys: Sequence[str], first: int, second: int) -> str:
    """Return the key of the ReasonRow that a pattern on which two tools differ is counted in."""
    name = pattern.reason(first, second)
    rule_of = next((keys[place] for place in (first, second) if pattern.reasons[place]), "")
    return ReasonRow(name, "", rule_of, 0, 0).key


def dialects_sentence(dialects: Dialects) -> str:
    """Return the page's sentence: how many tools scored, and how far they are from ours."""
    rates = [tool.rate.value for tool in dialects.tools[1:] if tool.rate.value is not None]
    ours = dialects.tools[0].rate.value
    if not rates:
        return "No other evaluator supports this kind of expectation."
    if ours is None:
        return "We have no verdict on these calls to compare others with."
    low, high = 100 * min(rates), 100 * max(rates)
    said = f"{100 * ours:.0f} % of the calls pass here"
    if f"{low:.0f}" == f"{high:.0f}":
        return f"{said}; by every other evaluator {low:.0f} % of what it can score."
    return f"{said}; by other evaluators {low:.0f} to {high:.0f} % of what each can score."
