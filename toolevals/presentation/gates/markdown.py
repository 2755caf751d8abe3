"""Writes a gate's result as Markdown, for a comment on a pull request.

Names come from datasets and tools: whatever they hold, they are shown as text and never as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from toolevals.grading.gates.results import CheckStatus, GateStatus
from toolevals.presentation.gates.report import ORDER, GateReport, examples, figure, interval, remarks

MARKS: Final[Mapping[CheckStatus | GateStatus, str]] = {
    "failed": "❌",
    "unanswered": "❔",
    "warned": "⚠️",
    "passed": "✅",
    "skipped": "➖",
}
_HEAD = "| | check | figure | 95 % interval | asked for | counted | remarks |\n| - | - | -: | -: | - | -: | - |\n"


def gate_markdown(report: GateReport) -> str:
    """Return the comment: the sentence, links, and a table of the checks, the worst first."""
    result = report.result
    lines = [
        f"### {MARKS[result.status]} {report.summary}",
        "",
        f"{_text(report.subject)}{f', against {_text(report.baseline)}' if report.baseline else ''}.",
        *([" · ".join(f"[{_text(words)}]({_address(url)})" for words, url in report.links.items())]),
        "",
    ]
    checks = sorted(result.checks, key=lambda check: ORDER.index(check.status))
    rows = (
        (
            MARKS[check.status],
            f"<code>{_text(check.name)}</code>",
            figure(check),
            interval(check),
            _text(check.bound),
            f"{check.count:,}",
            " ".join(filter(None, (_text(remarks(check)), _examples(examples(check))))),
        )
        for check in checks
    )
    return "\n".join(lines) + "\n" + _HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _examples(named: str) -> str:
    return f"Examples: <code>{_text(named)}</code>" if named else ""


def _text(text: str) -> str:
    """Return text in which nothing but letters, digits and plain marks stands for itself."""
    return "".join(mark if mark.isalnum() or mark in " ,;%" else _entity(mark) for mark in text)


def _entity(mark: str) -> str:
    return f"&#{ord(mark)};" if mark.isprintable() else " "


def _address(url: str) -> str:
    return quote(url, safe="/:?&=%#@.,-_~")
