"""List the rules of the lint, in one table, and define findings. `docs/datasets.md` states each rule's limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypedDict

from toolevals.grading.values.canonical import digest
from toolevals.json_types import JsonObject

Severity = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


# So many findings of a rule are listed, all are counted; so many examples are named in each.
LISTED = 200
NAMED = 10


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name in addresses and files, how grave a finding is, and what it looks for."""

    name: str
    severity: Severity
    title: str


_ALL = (
    Rule("breaks_schema", "error", "Gold breaks the schema of an offered tool"),
    Rule("breaks_schema_in_part", "warning", "One of several accepted values breaks the schema"),
    Rule("two_golds", "error", "The same input has different gold"),
    Rule("not_admitted", "warning", "Gold that is invalid in the newest registry version"),
    Rule("passes_idle", "warning", "Calls are expected, but an agent that does nothing passes"),
    Rule("duplicate_input", "warning", "The same input twice"),
    Rule("near_duplicate_input", "note", "Nearly the same input"),
    Rule("never_filled", "warning", "An optional argument that no gold fills"),
    Rule("no_description", "error", "A tool without a description"),
    Rule("same_description", "warning", "Nearly the same description"),
    Rule("confusable", "warning", "Two tools with similar descriptions"),
    Rule("shared_opening", "warning", "Descriptions that open with the same words"),
    Rule("no_trigger", "note", "A description that does not say when to use the tool"),
)
RULES: Final[Mapping[str, Rule]] = {rule.name: rule for rule in _ALL}


class NamedExample(TypedDict):
    """An example as a finding names it."""

    id: str
    external_id: str


class Finding(TypedDict):
    """One finding. `key` is the same in every report as long as it is about the same things."""

    key: str
    rule: str
    severity: str
    sentence: str
    tools: list[str]
    examples: list[NamedExample]
    example_count: int


@dataclass(slots=True)
class Report:
    """The results of a lint: findings, how many of each rule, and what an agent that does nothing scores."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    examples: int = 0
    gold: int = 0
    passed_idle: int = 0
    no_call: int = 0
    tools: int = 0

    def add(
        self,
        rule: str,
        sentence: str,
        *,
        about: Sequence[Any],
        tools: Iterable[str] = (),
        examples: Sequence[NamedExample] = (),
        example_count: int | None = None,
    ) -> None:
        """Add a finding; `about` is what makes it this finding and no other."""
        self.counts[rule] += 1
        if self.counts[rule] > LISTED:
            return
        self.findings.append(
            Finding(
                key=digest([rule, *map(str, about)])[:16],
                rule=rule,
                severity=RULES[rule].severity,
                sentence=sentence[:500],
                tools=list(tools)[:NAMED],
                examples=list(examples[:NAMED]),
                example_count=len(examples) if example_count is None else example_count,
            )
        )

    def to_document(self) -> JsonObject:
        """Return the report as it is kept: the findings of each rule together, in the order of the rules."""
        order = {name: place for place, name in enumerate(RULES)}
        return {
            "examples": self.examples,
            "gold": self.gold,
            "passed_idle": self.passed_idle,
            "no_call": self.no_call,
            "tools": self.tools,
            "counts": dict(self.counts),
            "findings": sorted(self.findings, key=lambda finding: order[finding["rule"]]),
        }
