"""Says a gate's result in words, as JUnit XML for a CI server, and as a badge.

Names come from datasets and tools: whatever they hold, they are shown as text and never as markup. In JUnit each check
is a test case: one that failed is a failure, one that cannot be answered an error; a warning passes and says so on its
output, unless warnings count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring
from xml.sax.saxutils import escape

from toolevals.grading.gates.checks import figure_words
from toolevals.grading.gates.results import Check, CheckStatus, GateResult, GateStatus
from toolevals.presentation.numbers import ABSENT

GATE_WORDS: Final[Mapping[GateStatus, str]] = {
    "passed": "Gate passed.",
    "warned": "Gate passed with warnings.",
    "failed": "Gate failed.",
    "unanswered": "Gate failed: not enough scored cases to decide.",
}
# The worst first: what someone has to look at.
ORDER: Final[tuple[CheckStatus, ...]] = ("failed", "unanswered", "warned", "passed", "skipped")
MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class GateReport:
    """A gate's result, the run that it checked, and where more is to be seen.

    `subject` and `baseline` say in words which run, and which one before it (empty without one); `links` are addresses
    by their words.
    """

    result: GateResult
    subject: str
    baseline: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> dict[CheckStatus, int]:
        """Return how many checks have each status that occurs, the worst first."""
        return {status: count for status in ORDER if (count := len(self.result.of_status(status)))}

    @property
    def summary(self) -> str:
        """Return the result in one sentence, with its counts."""
        counted = ", ".join(f"{count} {status}" for status, count in self.counts.items())
        stopped = " It stopped at the first failure." if self.result.stopped else ""
        return f"{GATE_WORDS[self.result.status]} {counted or 'Nothing was checked'}.{stopped}"


def figure(check: Check) -> str:
    """Return a check's figure: `0.95`, and a dash where there is none."""
    return ABSENT if check.observed is None else figure_words(check.observed)


def interval(check: Check) -> str:
    """Return a check's 95 % interval: `0.91 to 0.97`, and a dash where there is none."""
    return ABSENT if check.interval is None else f"{check.interval.low:.4g} to {check.interval.high:.4g}"


def remarks(check: Check) -> str:
    """Return what is said of a check, the reason before the note."""
    return " ".join(filter(None, (check.reason, check.note)))


def examples(check: Check) -> str:
    """Return the first examples that kept a check from passing and how many more; empty where its reason names them."""
    if not check.examples or f"fail now: {check.examples[0]}" in check.reason:
        return ""
    named = ", ".join(check.examples[:MOST_NAMED])
    more = check.example_count - min(len(check.examples), MOST_NAMED)
    return f"{named} and {more:,} more" if more else named


# What XML 1.0 cannot hold.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SUITE = "toolevals gate"


def junit_xml(report: GateReport, *, strict: bool = False) -> bytes:
    """Return the document; `strict` makes failures of warnings."""
    kinds = [_kind(check, strict=strict) for check in report.result.checks]
    counts = {"tests": str(len(kinds)), **{name: str(kinds.count(kind)) for name, kind in _COUNTED.items()}}
    # The root has no attribute for what is skipped.
    of_root = {name: count for name, count in counts.items() if name != "skipped"}
    root = Element("testsuites", {"name": SUITE, **of_root, "time": "0"})
    suite = SubElement(root, "testsuite", {"name": _xml(report.subject), **counts, "time": "0"})
    properties = SubElement(suite, "properties")
    said = {"status": report.result.status, "baseline": report.baseline or "none", **report.links}
    for name, value in said.items():
        SubElement(properties, "property", {"name": _xml(name), "value": _xml(value)})
    for check, kind in zip(report.result.checks, kinds, strict=True):
        _test_case(suite, check, kind)
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


# The attribute that counts them -> the element that they hold.
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _kind(check: Check, *, strict: bool) -> str:
    kinds = {"failed": "failure", "unanswered": "error", "skipped": "skipped", "warned": "failure" if strict else ""}
    return kinds.get(check.status, "")


def _test_case(suite: Element, check: Check, kind: str) -> None:
    name = {"classname": _xml(f"toolevals.{check.metric or 'all'}"), "name": _xml(check.name), "time": "0"}
    case = SubElement(suite, "testcase", name)
    message = _xml(remarks(check) or f"{figure(check)}, {check.bound}")
    if kind == "skipped":
        SubElement(case, kind, {"message": message})
    elif kind:
        SubElement(case, kind, {"message": message, "type": check.status}).text = _xml(_facts(check))
    if not kind:
        SubElement(case, "system-out").text = _xml("\n".join(filter(None, (_facts(check), remarks(check)))))


def _facts(check: Check) -> str:
    lines = [
        f"{check.status}: {figure(check)} over {check.count:,}, required {check.bound}",
        f"95 % interval: {interval(check)}",
    ]
    named = examples(check)
    return "\n".join([*lines, *([f"examples: {named}"] if named else [])])


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


# White on these is readable: at least 4.5 to 1.
COLOURS: Final[Mapping[str, str]] = {
    "passed": "#1a7f4b",
    "warned": "#8a5a00",
    "failed": "#b3261e",
    "unanswered": "#5f5f66",
    "not held yet": "#5f5f66",
}
_LABEL: Final = "gate"
# Of a letter of Verdana at 11 px; the others are about 7 wide.
_NARROW: Final = {"f": 4, "i": 3, "l": 3, "t": 5, " ": 4, "w": 9}
_PADDING: Final = 12

_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{words}">'
    "<title>{words}</title>"
    '<rect width="{width}" height="20" rx="3" fill="{colour}"/>'
    '<path d="M3 0h{inner}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3b3b40"/>'
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
    '<text x="{left}" y="14" textLength="{label_length}">{label}</text>'
    '<text x="{right}" y="14" textLength="{length}">{status}</text></g></svg>\n'
)


def badge_svg(status: str) -> bytes:
    """Return the badge of a gate's status; an empty one says that none was held yet."""
    status = status or "not held yet"
    label_length, length = (sum(_NARROW.get(letter, 7) for letter in words) for words in (_LABEL, status))
    label_width = label_length + _PADDING
    width = label_width + length + _PADDING
    return _SVG.format(
        width=width,
        words=escape(f"{_LABEL}: {status}"),
        colour=COLOURS.get(status, COLOURS["unanswered"]),
        inner=label_width - 3,
        left=label_width / 2,
        right=label_width + (length + _PADDING) / 2,
        label=_LABEL,
        label_length=label_length,
        length=length,
        status=escape(status),
    ).encode()
