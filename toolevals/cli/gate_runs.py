"""Holds a gate against a run on a server, which keeps the result."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import say_progress
from toolevals.grading.gates.results import GateResult
from toolevals.presentation.gates.report import GateReport

# What CI servers call the branch and the commit that they build.
_BRANCH = ("TOOLEVALS_BRANCH", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
_COMMIT = ("TOOLEVALS_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA")
_LONGEST = 200


def kept_gate(arguments: argparse.Namespace) -> Any:
    """Return the gate of a name that the project keeps: its document and its baseline.

    Raises CommandError that names those that it keeps where this is none of them.
    """
    client = ProjectClient.from_arguments(arguments)
    try:
        return client.request("GET", f"named-gates/{quote(arguments.name, safe='')}/")
    except CommandError as error:
        if error.exit_status is not Exit.CONFIGURATION:
            raise
        kept = sorted(each["name"] for each in client.pages("named-gates/"))
        if arguments.name in kept:
            raise
        known = f"it keeps {', '.join(kept)}" if kept else f"it keeps none yet: make one at {client.page('gates/new/')}"
        raise CommandError(error.exit_status, f"the project keeps no gate {arguments.name!r}; {known}") from None


def hold_against_run(arguments: argparse.Namespace, gate: Mapping[str, Any]) -> GateReport:
    """Wait for a run's grades, hold them against the gate at the server, and return the report.

    `gate` has its document under `gate`, or the `name` under which the project keeps it.
    """
    client = ProjectClient.from_arguments(arguments)
    run = client.request("GET", f"runs/{arguments.number}/")
    if run["grading"] is None and run["job"]:
        client.wait({"id": run["job"]}, say=say_progress)
    asked = {
        **gate,
        "baseline": arguments.baseline or "",
        "consistency": _number(arguments.consistency),
        "release_candidate": arguments.release_candidate,
        "branch": arguments.branch or _said(_BRANCH),
        "commit": arguments.commit or _said(_COMMIT),
    }
    started = _started(client, arguments.number, asked)
    client.wait(started["job"], say=say_progress)
    return _report(client, client.request("GET", f"gates/{started['gate']['id']}/"))


def _started(client: ProjectClient, number: int, asked: Mapping[str, Any]) -> Any:
    try:
        return client.post_once(f"runs/{number}/gates/", json=asked)
    except CommandError as error:
        # What was sent are options and a gate, and no data.
        status = Exit.CONFIGURATION if error.exit_status is Exit.DATA else error.exit_status
        raise CommandError(status, str(error)) from error


def _number(said: str | None) -> int | None:
    if said is None:
        return None
    if not said.isascii() or not said.isdigit() or len(said) > 9:
        raise CommandError(Exit.CONFIGURATION, f"--consistency {said}: is not the number of a run")
    return int(said)


def _said(names: tuple[str, ...]) -> str:
    return next((said[:_LONGEST] for name in names if (said := os.environ.get(name, ""))), "")


def _report(client: ProjectClient, shown: Mapping[str, Any]) -> GateReport:
    run, before = shown["run"], shown["baseline"]
    links = {
        "confusion matrix": client.page(f"runs/{run}/matrix/?grading={shown['grading']}"),
        "gate": client.page(f"gates/{shown['id']}/"),
    }
    return GateReport(
        GateResult.from_document(shown["result"]),
        f"run {run} ({shown['agent']}) on {shown['dataset']}",
        f"run {before}" if before else "",
        links,
    )
