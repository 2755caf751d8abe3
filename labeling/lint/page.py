"""Show a report on a page and as a file: filters, counts, one row a finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labeling.lint.findings import LISTED, RULES, SEVERITIES, Rule
from labeling.templatetags.figures import rate
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.presentation.csv import Cell
from toolevals.workspace.requests import page_number

FINDINGS_A_PAGE = 50
CSV = ("severity", "rule", "finding", "tools", "examples", "example_count", "let_be", "key")


@dataclass(frozen=True, slots=True)
class State:
    """The address's choice: a rule, a severity, whether ignored findings are shown, and the page (from 1)."""

    rule: str = ""
    severity: str = ""
    ignored: bool = False
    page: int = 1

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> State:
        """Return what an address says; what makes no sense counts as not said."""
        rule, severity, page = query.get("rule", ""), query.get("severity", ""), query.get("page", "")
        return cls(
            rule if rule in RULES else "",
            severity if severity in SEVERITIES else "",
            query.get("show") == "ignored",
            page_number(page),
        )

    @property
    def query(self) -> str:
        """The filters as a query, without the page."""
        said = {"rule": self.rule, "severity": self.severity, "show": "ignored" if self.ignored else ""}
        return "&".join(f"{name}={value}" for name, value in said.items() if value)


@dataclass(frozen=True, slots=True)
class RuleCount:
    """The number of a rule's findings, without the ignored ones; `more` are counted but not listed."""

    rule: Rule
    count: int
    more: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page of a report."""

    findings: Sequence[JsonObject]
    rules: Sequence[RuleCount]
    severities: Sequence[tuple[str, int]]
    ignored: int
    found: int
    # So many more of these were found and are counted only.
    unlisted: int
    pages: int
    # What an agent that does nothing scores, in percent with its interval; empty where nothing is scored.
    passed_idle: str


def drawn(document: JsonMapping, state: State) -> Drawn:
    """Return what a page shows of a report's document."""
    standing = [finding for finding in document["findings"] if finding["key"] not in document["ignored"]]
    chosen = list(_chosen(document, state))
    pages = max(1, -(-len(chosen) // FINDINGS_A_PAGE))
    start = (min(state.page, pages) - 1) * FINDINGS_A_PAGE
    counts = Counter(finding["rule"] for finding in standing)
    severities = Counter(finding["severity"] for finding in standing)
    more = {name: max(0, count - LISTED) for name, count in document["counts"].items()}
    return Drawn(
        findings=[_row(finding, document["ignored"]) for finding in chosen[start : start + FINDINGS_A_PAGE]],
        rules=[RuleCount(rule, counts[name] + more.get(name, 0), more.get(name, 0))
               for name, rule in RULES.items() if counts[name]],
        severities=[(name, severities[name]) for name in SEVERITIES if severities[name]],
        ignored=len(document["findings"]) - len(standing),
        found=len(chosen),
        unlisted=sum(count for name, count in more.items() if _is_of(RULES[name], state)),
        pages=pages,
        passed_idle=rate(document["passed_idle"], document["gold"]),
    )  # fmt: skip


def lines(document: JsonMapping, state: State) -> Iterator[Sequence[Cell]]:
    """Yield the findings that a state chooses as rows of CSV."""
    for finding in _chosen(document, state):
        let_be = document["ignored"].get(finding["key"], {}).get("reason", "")
        yield (
            finding["severity"],
            finding["rule"],
            finding["sentence"],
            " ".join(finding["tools"]),
            " ".join(example["external_id"] for example in finding["examples"]),
            finding["example_count"],
            let_be,
            finding["key"],
        )


def _chosen(document: JsonMapping, state: State) -> Iterator[JsonObject]:
    for finding in document["findings"]:
        fits = state.rule in ("", finding["rule"]) and state.severity in ("", finding["severity"])
        if fits and (finding["key"] in document["ignored"]) == state.ignored:
            yield finding


def _is_of(rule: Rule, state: State) -> bool:
    """Tell whether findings of a rule that are not listed are asked for: what is let be is always listed."""
    return not state.ignored and state.rule in ("", rule.name) and state.severity in ("", rule.severity)


def _row(finding: JsonObject, ignored: JsonMapping) -> JsonObject:
    return {
        **finding,
        "title": RULES[finding["rule"]].title,
        "ignored": ignored.get(finding["key"]),
        "more": finding["example_count"] - len(finding["examples"]),
    }
