"""Define the tables of policies; docs/tables.md describes their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from reports.guard.analysis import Judged, MeasuredRule, VersionRates
from reports.guard.words import rule_words
from toolevals.presentation.csv import Cell
from toolevals.presentation.table import INTERVAL, Column, Table


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule of a version: what it asks for, its mode, and its rates where they were measured."""

    name: str
    kind: str
    mode: str
    words: str
    measured: MeasuredRule | None

    @property
    def is_known(self) -> bool:
        return self.measured is not None and self.measured.is_known

    @property
    def may_be_read(self) -> bool:
        """Tell if it refuses calls in traces that people have not read yet."""
        found = self.measured
        return bool(found and found.traces and found.in_traces.calls < found.traces.refused)


def rule_rows(rates: VersionRates) -> list[RuleRow]:
    """Return the rules of a version, by name."""
    return [
        RuleRow(name, rule.rule.kind, rule.mode, rule_words(rule.rule), rates.measured[name])
        for name, rule in sorted(rates.policy.rules.items())
    ]


def policy_sentence(rows: Iterable[RuleRow]) -> str:
    """Return the sentence of a version's page: how many rules are enforced, and if they refuse what gold expects."""
    enforced = [row for row in rows if row.mode == "enforce"]
    if not enforced:
        return "No rule is enforced: every call passes."
    head = "1 rule enforced" if len(enforced) == 1 else f"{len(enforced)} rules enforced"
    unknown = sum(not row.is_known for row in enforced)
    if unknown:
        return f"{head}; the error rates of {unknown} are not known."
    wrong = sum(bool(row.measured and row.measured.best.refused_expected) for row in enforced)
    if wrong:
        return f"{head}; {wrong} would refuse calls that gold expects."
    return f"{head}; no call that gold expects would be refused."


def judged_sentence(judged: Judged) -> str:
    """Return the sentence of a rule's page: how many of the refused calls that people read are false refusals."""
    if not judged.calls:
        return "No one has read yet what this rule refuses." if not judged.split else "People do not agree yet."
    calls = "call" if judged.calls == 1 else "calls"
    return f"{judged.false:,} of {judged.calls:,} refused {calls} that people read should have been allowed."


def _count(name: str, value: str, words: str) -> Column:
    return Column(name, int, f"measured.{value}", words, optional=True)


POLICY_RULES: Final = Table(
    "PolicyRule",
    "A rule of a version with what it would refuse; null where that was not measured.",
    (
        Column("rule", str, "name"),
        Column("kind"),
        Column("mode", ("off", "audit", "enforce")),
        Column("words"),
        Column("is_known", bool, words="Whether enough calls that gold expects were seen to speak of an error rate."),
        _count("calls", "runs.calls", "Calls of graded runs."),
        _count("refused", "runs.refused", "Of these, what it would refuse."),
        _count("expected", "runs.expected", "Of the calls, those that gold expects."),
        _count("refused_expected", "runs.refused_expected", "Of these, what it would refuse."),
        _count("unexpected", "runs.unexpected", "Of the calls, those that gold does not expect."),
        _count("refused_unexpected", "runs.refused_unexpected", "Of these, what it would refuse."),
        _count("gold", "gold.expected", "Calls of gold itself."),
        _count("refused_gold", "gold.refused_expected", "Of these, what it would refuse."),
        Column("wrongly", INTERVAL, "measured.wrongly", "Of expected calls, the share it refuses.", optional=True),
        _count("calls_in_traces", "traces.calls", "Calls in the newest traces."),
        _count("refused_in_traces", "traces.refused", "Of these, what it would refuse."),
        Column("in_traces", INTERVAL, "measured.of_traces", "Of calls in traces, the share it refuses.", optional=True),
        _count("judged", "everywhere.calls", "Refused calls, wherever they are, that people read and agree on."),
        _count("false_refusals", "everywhere.false", "Of these, those that should have been allowed."),
        Column("false_share", INTERVAL, "measured.everywhere.interval", "That share.", optional=True),
        Column("rightly", INTERVAL, "measured.rightly", "Of unexpected calls, the share it refuses.", optional=True),
        Column("too_small", bool, "measured.too_small", "Whether gold cannot show a rate of 1 %.", optional=True),
    ),
)
REFUSALS: Final = Table(
    "PolicyRefusal",
    "A call that a rule would refuse: of a trace, of a case of a run, or else of the gold of an example.",
    (
        Column("refusal_id", UUID, "pk"),
        Column("rule"),
        Column("run", int, "case.grading.run.number", optional=True),
        Column("case_id", UUID, optional=True),
        Column("trace_id", UUID, optional=True),
        Column("dataset", str, "revision.example.dataset.slug", optional=True),
        Column("example_id", UUID, "revision.example_id", optional=True),
        Column("external_id", str, "revision.example.external_id", optional=True),
        Column("call", int),
        Column("tool"),
        Column("is_expected", bool, optional=True),
        Column("pointer"),
        Column("sentence"),
        Column("marked_false", int, words="How many people say that it should have been allowed."),
        Column("marked_right", int, words="How many people say that it is right to refuse it."),
    ),
)
DAYS: Final = Table(
    "PolicyDay",
    "What a policy decided by REST for one key on one day (UTC): of all its checks, or what one rule refused.",
    (
        Column("day", str, "day_text"),
        Column("key"),
        Column("rule", str, words="Empty for all checks of the key."),
        Column("allowed", int),
        Column("would_refuse", int),
        Column("refused", int),
    ),
)
POLICIES: Final = ("policy_id", "policy", "name", "registry", "in_force", "newest_version", "newest_at", "created_at")
VERSIONS: Final = (
    "version_id",
    "version",
    "note",
    "reason",
    "actor_id",
    "actor",
    "created_at",
    "activated_at",
    "is_in_force",
)


def policy_lines(policies: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each policy that was read `with_newest`."""
    for each in policies:
        registry = each.registry.slug if each.registry else None
        active = each.active.number if each.active else None
        yield each.pk, each.slug, each.name, registry, active, each.newest_number, each.newest_at, each.created_at


def version_lines(versions: Iterable[Any], active: UUID | None) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version that was read with who published it."""
    for each in versions:
        who = (each.created_by.pk, each.created_by.name) if each.created_by else (None, None)
        moments: tuple[datetime, datetime | None] = each.created_at, each.activated_at
        yield each.pk, each.number, each.note, each.reason, *who, *moments, each.pk == active
