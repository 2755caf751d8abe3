"""Tell what a datasheet states, as plain values: page, Markdown and JSON are all made of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from toolevals.grading.metrics.rates import Estimate
from toolevals.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class About:
    """The description of a dataset, and of the version if there is one; `version` is None for its current content."""

    slug: str
    title: str
    description: str
    created_at: datetime
    default_tools: str
    version: int | None
    note: str
    tags: tuple[str, ...]
    frozen_at: datetime | None
    frozen_by: str
    versions: int

    @property
    def name(self) -> str:
        """The name that runs and exports take: "support@3"; "support@now" is what it holds now."""
        return f"{self.slug}@{'now' if self.version is None else self.version}"


@dataclass(frozen=True, slots=True)
class ValueCount:
    """The number of examples with a value; `value` is empty where an example has none."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a stratum, the most frequent first. `more`: values that are not listed, and their examples."""

    listed: tuple[ValueCount, ...]
    more: int = 0
    more_examples: int = 0

    @property
    def examples(self) -> int:
        """The number of examples that are counted, those that say nothing included."""
        return sum(one.count for one in self.listed) + self.more_examples


@dataclass(frozen=True, slots=True)
class Composition:
    """The kinds of examples. Only those with gold call a tool; `unread` gold is not yet counted by tool.

    `replaced`: entries of a frozen version whose revision or gold is no longer in force; None for what it holds now.
    """

    examples: int
    gold: int
    waiting: int
    set_aside: Mapping[str, int]
    strata: Mapping[str, Values]
    tools: Values
    no_call: int
    any_call: int
    unread: int
    tool_lists: int
    gold_sources: Mapping[str, int]
    replaced: int | None
    first_added: datetime | None
    last_added: datetime | None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that was imported into the dataset. `job` is the id of the import; `added` is None where it failed."""

    file: str
    format: str
    at: datetime
    job: str
    added: int | None


@dataclass(frozen=True, slots=True)
class Sources:
    """The origins of examples: files, newest first, `more` of them unlisted; and how often some came without one.

    `drafts`: how many of those are drafts of edge cases that a person accepted.
    """

    files: tuple[SourceFile, ...]
    more: int
    without_file: int
    drafts: int


@dataclass(frozen=True, slots=True)
class Labelling:
    """The labelling of resolved examples: labels in force, one a slot; times in seconds.

    `overlap`: how many examples have so many labels; `nameless` labels are by people who have left. Labels that
    were given elsewhere are counted apart, and in nothing else.
    """

    labels: int
    elsewhere: int
    people_elsewhere: int
    people: int
    nameless: int
    timed: int
    seconds: float
    overlap: Mapping[int, int]
    guidelines: Mapping[int, int]
    adjudications: int
    adjudicators: int
    adjudication_seconds: float
    disputes_open: int
    disputes_settled: int


@dataclass(frozen=True, slots=True)
class ToolAgreement:
    """The agreement of labels of one example on the tool. `units`: examples with two labels or more.

    Figures are of `sampled` of them: all, or a fixed random sample where there are many.
    """

    units: int
    sampled: int
    percent: Estimate
    alpha: Estimate


@dataclass(frozen=True, slots=True)
class LintCount:
    """The number of open findings of a rule."""

    rule: str
    severity: str
    title: str
    count: int


@dataclass(frozen=True, slots=True)
class LintSummary:
    """The newest lint of the dataset, of which every version is a part: findings, and what doing nothing scores."""

    at: datetime
    examples: int
    gold: int
    passed_idle: Estimate
    passed_idle_count: int
    rules: tuple[LintCount, ...]


@dataclass(frozen=True, slots=True)
class Datasheet:
    """All of it. What no one has recorded is None or empty, never guessed."""

    about: About
    composition: Composition
    sources: Sources
    labelling: Labelling
    agreement: ToolAgreement
    lint: LintSummary | None
    # Nothing in the application records it.
    licence: None = None

    def to_document(self) -> JsonObject:
        """Return the datasheet as JSON: times in ISO 8601, an estimate as value, low, high, count and reason."""
        document: JsonObject = _plain(asdict(self))
        return {"name": self.about.name, **document}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {"value", "interval", "count", "reason"}:
            interval = value["interval"] or {"low": None, "high": None}
            return {"value": value["value"], **interval, "count": value["count"], "reason": value["reason"]}
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value
