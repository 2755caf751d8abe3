"""List the rules of the lint, in one table. `docs/datasets.md` states each with its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


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
    Rule("not_admitted", "warning", "Gold that the newest registry version no longer admits"),
    Rule("passes_idle", "warning", "Calls are expected, yet an agent that does nothing passes"),
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
