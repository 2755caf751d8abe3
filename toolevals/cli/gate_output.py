"""Tell what `toolevals gate` prints and writes."""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path

from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.grade_tables import table
from toolevals.cli.output import say
from toolevals.presentation.gate_reports import (
    GateReport,
    examples,
    figure,
    gate_markdown,
    interval,
    junit_xml,
    remarks,
)

HEAD = ("check", "status", "figure", "95 %", "asked for", "counted")
_WIDTH = 110


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add where a result goes."""
    group = parser.add_argument_group("output", "A table on standard output, and also:")
    group.add_argument("--json", action="store_true", help="print JSON instead of the table")
    group.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    group.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown for a pull request")
    group.add_argument("--strict", action="store_true", help="let warnings count: exit with 3 instead of 0")


def put_out(report: GateReport, arguments: argparse.Namespace) -> Exit:
    """Print and write what is asked for, and return the exit status."""
    if arguments.json:
        shown = {**report.result.to_document(), "subject": report.subject, "baseline": report.baseline}
        say(json.dumps({**shown, "links": dict(report.links)}, indent=2, ensure_ascii=False))
    else:
        say(gate_table(report), end="")
    if arguments.junit:
        _write(arguments.junit, junit_xml(report, strict=arguments.strict))
    if arguments.markdown:
        _write(arguments.markdown, gate_markdown(report).encode())
    if report.result.status == "warned":
        return Exit.WARNING if arguments.strict else Exit.OK
    return Exit.OK if report.result.status == "passed" else Exit.FAILED


def gate_table(report: GateReport) -> str:
    """Return the checks as a table with what is said of each below, and the result in a sentence."""
    checks = report.result.checks
    rows = ((c.name, c.status, figure(c), interval(c), c.bound, f"{c.count:,}") for c in checks)
    said = []
    for check in checks:
        named = f"Examples: {listed}." if (listed := examples(check)) else ""
        if words := " ".join(filter(None, (remarks(check), named))):
            text = f"{check.status}: {check.name}: {words}"
            said.append(textwrap.fill(text, _WIDTH, subsequent_indent="  "))
    against = f", against {report.baseline}" if report.baseline else ""
    links = [f"{words}: {url}" for words, url in report.links.items()]
    lines = [f"{report.subject}{against}", *links, "", table(HEAD, rows), *said, "", report.summary]
    return printable("\n".join(lines)) + "\n"


def printable(text: str) -> str:
    """Return text for a terminal: what would steer it is shown as a question mark."""
    return "".join(mark if mark.isprintable() or mark == "\n" else "?" for mark in text)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot write {path}: {error.strerror}") from error
