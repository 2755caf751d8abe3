"""Runs `toolevals gate`: holds a run or a file against what it must reach, so that a CI job fails where it does not.

A server keeps the result of a run that it holds.
"""

from __future__ import annotations

import argparse
import json
import os
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from toolevals.cli.blocks import add_jobs_option
from toolevals.cli.forge import Forge
from toolevals.cli.forges import GitHub, GitLab
from toolevals.cli.gate_changes import changes_of_files, changes_of_runs, comparison_path
from toolevals.cli.gate_config import add_gate_options, gate_document
from toolevals.cli.gate_files import hold_against_files
from toolevals.cli.inputs import once_at_most
from toolevals.cli.output import FAILURES, CommandError, Exit, exit_status_of, say, table
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.client import Project
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.results import GateResult
from toolevals.json_types import JsonMapping
from toolevals.presentation.gate_comment import RunChanges, gate_markdown, text
from toolevals.presentation.gate_reports import (
    GateReport,
    examples,
    figure,
    interval,
    junit_xml,
    remarks,
)
from toolevals.server_errors import ServerError, ServerSettingsError

HEAD = ("check", "status", "figure", "95 %", "required", "counted")
_WIDTH = 110
# Work out what changed from the run before; None without one.
Changes = Callable[[], RunChanges | None]


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add where a result goes."""
    group = parser.add_argument_group("output", "A table on standard output, and also:")
    group.add_argument("--json", action="store_true", help="print JSON instead of the table")
    group.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    group.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown for a pull request")
    forges = group.add_mutually_exclusive_group()
    forges.add_argument(
        "--github",
        action="store_const",
        dest="forge",
        const=GitHub,
        help="in a job of GitHub Actions: one comment on the pull request, a commit status, annotations of"
        " tools and the step's summary",
    )
    forges.add_argument(
        "--gitlab",
        action="store_const",
        dest="forge",
        const=GitLab,
        help="in a job of GitLab CI: one comment on the merge request, and a commit status",
    )
    group.add_argument(
        "--as",
        dest="known_as",
        default="",
        metavar="NAME",
        help="of the comment and the status; by default --name, else the gate's file",
    )
    group.add_argument(
        "--tool-file",
        type=Path,
        metavar="FILE",
        help="with --github or --code-quality: where the tools are defined; by default the changed file that names"
        " most of them",
    )
    group.add_argument(
        "--code-quality",
        type=Path,
        metavar="FILE",
        help="with --gitlab: write a Code Quality report, which annotates the tools",
    )
    group.add_argument("--strict", action="store_true", help="exit with 3 instead of 0 if there are warnings")


def gate_name(arguments: argparse.Namespace) -> str:
    """Return what a comment and a status are known by: as is said, else the gate's name or its file's."""
    config = arguments.config.stem if arguments.config and arguments.config.stem != "-" else ""
    return str(arguments.known_as or arguments.name or config or "gate")


def put_out(report: GateReport, arguments: argparse.Namespace, changes: Changes, forge: Forge | None) -> Exit:
    """Print and write what is asked for, and return the exit status.

    `changes` are asked for where they are written.
    """
    if arguments.json:
        shown = {**report.result.to_document(), "subject": report.subject, "baseline": report.baseline}
        say(json.dumps({**shown, "links": dict(report.links)}, indent=2, ensure_ascii=False))
    else:
        say(gate_table(report), end="")
    if arguments.junit:
        _write(arguments.junit, junit_xml(report, strict=arguments.strict))
    status = _status(report, strict=arguments.strict)
    if not (arguments.markdown or forge):
        return status
    changed = changes()
    markdown = gate_markdown(report, changed)
    if arguments.markdown:
        _write(arguments.markdown, markdown.encode())
    if forge:
        told = forge.publish(gate_name(arguments), report, markdown, changed, passed=not status)
        status = status or told
    return status


def _status(report: GateReport, *, strict: bool) -> Exit:
    if report.result.status == "warned":
        return Exit.WARNING if strict else Exit.OK
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


# What CI servers call the branch and the commit that they build.
_BRANCH = ("TOOLEVALS_BRANCH", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
_COMMIT = ("TOOLEVALS_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA")
_LONGEST = 200
_EPILOG = """\
exit status: 0 passed, 2 not passed (unscored never passes), 3 a warning with
--strict, 4 wrong options or file, 5 wrong data, 6 no server, 7 not in time; 1 is a crash
"""


def kept_gate(arguments: argparse.Namespace) -> Any:
    """Return the gate of a name that the project keeps: its document and its baseline.

    Raises CommandError that names those that it keeps where this is none of them.
    """
    client = project_of(arguments)
    try:
        return client.request("GET", f"named-gates/{quote(arguments.name, safe='')}/")
    except ServerSettingsError as error:
        kept = sorted(each["name"] for each in client.pages("named-gates/"))
        if arguments.name in kept:
            raise
        known = (
            f"it keeps {', '.join(kept)}"
            if kept
            else (f"the project has no gates yet: create one at {client.page('gates/new/')}")
        )
        words = f"no gate named {arguments.name!r} in this project; {known}"
        raise CommandError(exit_status_of(error), words) from None


def hold_against_run(arguments: argparse.Namespace, gate: JsonMapping) -> tuple[GateReport, Changes]:
    """Wait for a run's grades, hold them against the gate at the server, and return the report and what changed.

    `gate` has its document under `gate`, or the `name` under which the project keeps it.
    """
    client = project_of(arguments)
    run = client.request("GET", f"runs/{arguments.number}/")
    if run["grading"] is None and run["job"]:
        client.wait({"id": run["job"]})
    asked = {
        **gate,
        "baseline": arguments.baseline or "",
        "consistency": _number(arguments.consistency),
        "release_candidate": arguments.release_candidate,
        "branch": arguments.branch or _said(_BRANCH),
        "commit": arguments.commit or _said(_COMMIT),
    }
    started = _started(client, arguments.number, asked)
    client.wait(started["job"])
    shown = client.request("GET", f"gates/{started['gate']['id']}/")
    before = shown["baseline"]
    changes = (lambda: None) if before is None else partial(changes_of_runs, client, before, shown["run"])
    return _report(client, shown), changes


def _started(client: Project, number: int, asked: JsonMapping) -> Any:
    try:
        return client.post_once(f"runs/{number}/gates/", json=asked)
    except ServerError as error:
        # What was sent are options and a gate, and no data.
        status = exit_status_of(error)
        status = Exit.CONFIGURATION if status is Exit.DATA else status
        raise CommandError(status, str(error)) from error


def _number(said: str | None) -> int | None:
    if said is None:
        return None
    if not said.isascii() or not said.isdigit() or len(said) > 9:
        raise CommandError(Exit.CONFIGURATION, f"--consistency {said}: is not the number of a run")
    return int(said)


def _said(names: tuple[str, ...]) -> str:
    return next((said[:_LONGEST] for name in names if (said := os.environ.get(name, ""))), "")


def _report(client: Project, shown: JsonMapping) -> GateReport:
    run, before = shown["run"], shown["baseline"]
    links = {
        "confusion matrix": client.page(f"runs/{run}/matrix/?grading={shown['grading']}"),
        "gate": client.page(f"gates/{shown['id']}/"),
    }
    if before is not None:
        links["comparison"] = client.page(comparison_path(before, run))
    return GateReport(
        GateResult.from_document(shown["result"]),
        f"run {run} ({shown['agent']}) on {shown['dataset']}",
        "" if before is None else f"run {before}",
        links,
    )


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "gate",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="output of `toolevals grade`, or examples with predictions; .gz is accepted, - reads standard input",
    )
    parser.add_argument("--run", type=int, dest="number", metavar="R", help="the number of a run on the server")
    parser.add_argument(
        "--baseline",
        metavar="B",
        help="the baseline: a file for a FILE; for a run a run's number, branch:NAME or last-passing",
    )
    parser.add_argument(
        "--consistency",
        metavar="C",
        help="the consistency slice: a file, or the number of a run; by default its newest",
    )
    parser.add_argument(
        "--branch", default="", help="branch name to save the result under; default: from the CI environment"
    )
    parser.add_argument(
        "--commit", default="", metavar="SHA", help="commit to save the result under; default: from the CI environment"
    )
    add_jobs_option(parser)
    add_gate_options(parser)
    add_output_options(parser)
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Hold the run or the file against the gate, say how it came out, and return the exit status."""
    if arguments.known_as and not arguments.forge:
        raise CommandError(Exit.CONFIGURATION, "--as names a comment: give --github or --gitlab, too")
    if arguments.code_quality and arguments.forge is not GitLab:
        raise CommandError(Exit.CONFIGURATION, "--code-quality is a report for GitLab: give --gitlab, too")
    if arguments.tool_file and not (arguments.forge is GitHub or arguments.code_quality):
        words = "give --github, or --gitlab and --code-quality, too"
        raise CommandError(Exit.CONFIGURATION, f"--tool-file names where annotations stand: {words}")
    forge: Forge | None = arguments.forge and arguments.forge.from_environment()
    if forge is not None:
        forge.tool_file = arguments.tool_file
    if isinstance(forge, GitLab):
        forge.code_quality = arguments.code_quality
    if forge is None:
        return _held(arguments, None)
    try:
        return _held(arguments, forge)
    except FAILURES as error:
        forge.summarise(f"### ❌ toolevals gate ended with status {exit_status_of(error)}\n\n{text(str(error))}")
        raise


def _held(arguments: argparse.Namespace, forge: Forge | None) -> int:
    if (arguments.file is None) == (arguments.number is None):
        raise CommandError(Exit.CONFIGURATION, "give either FILE or --run R")
    files = (arguments.file, arguments.baseline, arguments.consistency)
    once_at_most(
        **dict(zip(("FILE", "--baseline", "--consistency"), files, strict=True)), **{"--config": arguments.config}
    )
    if arguments.name and arguments.config:
        raise CommandError(Exit.CONFIGURATION, "give either --name or --config, not both")
    kept = kept_gate(arguments) if arguments.name else None
    document = gate_document(arguments, kept["gate"] if kept else None)
    gate = read_gate(document)
    if kept and arguments.number is not None and gate.regressions:
        arguments.baseline = arguments.baseline or kept["baseline"]
    if arguments.baseline and not gate.regressions:
        words = (
            "--baseline has no effect because the gate has no regression rule: add --fail-on-regression, or "
            "regressions to the gate"
        )
        raise CommandError(Exit.CONFIGURATION, words)
    if arguments.number is not None:
        asked = {"name": arguments.name} if kept and kept["gate"] == document else {"gate": document}
        report, changes = hold_against_run(arguments, asked)
        status = put_out(report, arguments, changes, forge)
        require_baseline(arguments, report)
        return status
    held = hold_against_files(
        gate,
        arguments.file,
        baseline=arguments.baseline,
        consistency=arguments.consistency,
        release_candidate=arguments.release_candidate,
        jobs=arguments.jobs,
    )
    before = held.before
    changes = (lambda: None) if before is None else partial(changes_of_files, before, held.cases)
    return put_out(GateReport(held.result, arguments.file, arguments.baseline or ""), arguments, changes, forge)


def require_baseline(arguments: argparse.Namespace, report: GateReport) -> None:
    """Raise CommandError where a run was to be compared with another, and none was there."""
    if arguments.baseline and not report.baseline:
        words = (
            f"--baseline {arguments.baseline} does not match any run yet. The result is saved, so that later "
            f"gates can compare with it by branch"
        )
        raise CommandError(Exit.CONFIGURATION, words)
