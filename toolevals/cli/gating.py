"""Holding a finished run against what it must reach, so that a CI job fails where it does not."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import note
from toolevals.grading.gates.cases import verdict_scores
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.rules import default_gate
from toolevals.grading.gates.values import Check, GateCase
from toolevals.grading.verdicts import VERDICT_NAMES

EXITS = {"passed": Exit.OK, "warned": Exit.WARNING}


def add_gate_option(parser: argparse.ArgumentParser) -> None:
    """Add what a run must reach."""
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="LAYER=SHARE",
        help="exit with 2 unless this share of cases passes, or where too little is scored to say, as outcome=0.9; "
        f"of {', '.join(VERDICT_NAMES)}",
    )


def minimums_in(arguments: argparse.Namespace) -> dict[str, float]:
    """Return what is required, by layer. Raises CommandError where it cannot be held."""
    if arguments.require and arguments.no_wait:
        raise CommandError(Exit.CONFIGURATION, "--require needs the grades: leave --no-wait out")
    return dict(map(_minimum, arguments.require))


def _minimum(said: str) -> tuple[str, float]:
    layer, _, share = said.partition("=")
    try:
        minimum = float(share)
    except ValueError:
        minimum = -1.0
    if layer not in VERDICT_NAMES or not 0 <= minimum <= 1:
        words = f"--require {said}: is not a layer with a share from 0 to 1, such as outcome=0.9"
        raise CommandError(Exit.CONFIGURATION, words)
    return layer, minimum


def gate_run(client: ProjectClient, number: int, minimums: Mapping[str, float]) -> Exit:
    """Hold a run against what is required, say on standard error how each came out, and return the exit status."""
    if not minimums:
        return Exit.OK
    result = evaluate_gate(default_gate(minimums), list(_cases(client, number)))
    for check in result.checks:
        note(_line(check))
    note(f"gate: {result.status}")
    return EXITS.get(result.status, Exit.FAILED)


def _cases(client: ProjectClient, number: int) -> Iterator[GateCase]:
    for row in client.pages(f"runs/{number}/cases/"):
        statuses = {name: row[name] for name in VERDICT_NAMES}
        yield GateCase(row["example"], verdict_scores(statuses), row["trial"], row["expected"], row["actual"])


def _line(check: Check) -> str:
    observed = "nothing scored" if check.observed is None else f"{check.observed:.1%} of {check.count}"
    return f"  {check.status:<10} {check.name}: {observed}{f'; {check.reason}' if check.reason else ''}"
