"""Defines a policy: rules with their modes, read from a document and written to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from toolevals.grading.guard.rules import RULES
from toolevals.grading.guard.rules.rule import Rule
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

Mode = Literal["off", "audit", "enforce"]
OnError = Literal["refuse", "allow"]
DEADLINE_MS = 50


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule with its mode: off is not asked, audit is counted and lets pass, enforce refuses."""

    rule: Rule
    mode: Mode

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"kind": self.rule.kind, "mode": self.mode, **self.rule.to_document()}


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for what agents may do, by ids of their own.

    `version` counts the policy's versions. `on_error` says what becomes of a call where an enforced rule cannot tell,
    because something is not known, too long or late: "refuse" fails closed, "allow" open. `deadline_ms` is what a
    check may take; the caller holds the clock.
    """

    rules: Mapping[str, PolicyRule] = field(default_factory=dict)
    name: str = ""
    version: int = 1
    on_error: OnError = "refuse"
    deadline_ms: int = DEADLINE_MS

    @classmethod
    def from_document(cls, document: JsonValue) -> Self:
        """Read `schemas/policy.v1.json`. Raises InvalidDocument with every problem by JSON pointer."""
        require_valid(document, "policy")
        rules = {name: _rule(each) for name, each in document["rules"].items()}
        if problems := list(_problems(rules)):
            raise InvalidDocument(problems)
        return cls(
            rules=rules,
            name=document.get("name", ""),
            version=document.get("version", 1),
            on_error=document.get("on_error", "refuse"),
            deadline_ms=document.get("deadline_ms", DEADLINE_MS),
        )

    def to_document(self) -> JsonObject:
        """Return the normal form, without what is at its default; ids of rules in their order."""
        document: JsonObject = {"rules": {name: self.rules[name].to_document() for name in sorted(self.rules)}}
        if self.name:
            document["name"] = self.name
        document["version"] = self.version
        if self.on_error != "refuse":
            document["on_error"] = self.on_error
        if self.deadline_ms != DEADLINE_MS:
            document["deadline_ms"] = self.deadline_ms
        return document


def _rule(document: JsonMapping) -> PolicyRule:
    options = {name: value for name, value in document.items() if name not in ("kind", "mode")}
    return PolicyRule(RULES[document["kind"]].from_document(options), document["mode"])


def _problems(rules: Mapping[str, PolicyRule]) -> Iterator[Problem]:
    for name, each in rules.items():
        yield from (problem.below(f"/rules{pointer_to([name])}") for problem in each.rule.problems())
