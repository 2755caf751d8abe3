"""Writes a gate's result as JUnit XML, the form that CI servers read: each check is a test case.

A check that failed is a failure, one that cannot be answered an error; a warning passes and says so on its output,
unless warnings count.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from toolevals.grading.gates.results import Check
from toolevals.presentation.gates.report import GateReport, examples, figure, interval, remarks

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
        f"{check.status}: {figure(check)} over {check.count:,}, asked for {check.bound}",
        f"95 % interval: {interval(check)}",
    ]
    named = examples(check)
    return "\n".join([*lines, *([f"examples: {named}"] if named else [])])


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
