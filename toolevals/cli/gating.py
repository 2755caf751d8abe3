"""Holds a finished run against what it must reach, so that a CI job fails where it does not."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import note
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.gates.case_table import verdict_scores
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.results import Check, GateCase, GateResult
from toolevals.grading.gates.rules import default_gate
from toolevals.grading.values.verdict_table import VERDICT_NAMES

# What may be required of a run.
REQUIRED = (*VERDICT_NAMES, *METRICS)
EXITS = {"passed": Exit.OK, "warned": Exit.WARNING}


@dataclass(frozen=True, slots=True)
class Minimum:
    """The least share of cases that must pass a layer or metric; of those that expect `tool`, where it is not empty."""

    metric: str
    tool: str
    share: float

    def checks(self, cases: Sequence[GateCase]) -> Iterator[Check]:
        """Yield how a run comes out."""
        asked = [case for case in cases if self._asks(case)]
        for check in evaluate_gate(default_gate({self.metric: self.share}), asked).checks:
            yield replace(check, name=f"{check.name}, {self.tool}") if self.tool else check

    def _asks(self, case: GateCase) -> bool:
        """Return whether a case counts. One that no one has scored, and whose tool no one knows, may be of any tool."""
        not_known = not case.tool and case.asks(self.metric) and case.score(self.metric) is None
        return not self.tool or case.tool == self.tool or not_known


def add_gate_option(parser: argparse.ArgumentParser) -> None:
    """Add what a run must reach."""
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="METRIC[:TOOL]=SHARE",
        help="exit with 2 unless this share of cases passes, or where too little is scored to say, as outcome=0.9; "
        f"with a tool, of the cases that expect it first, as selection:get_order=0.9; of {', '.join(REQUIRED)}",
    )


def minimums_in(arguments: argparse.Namespace) -> list[Minimum]:
    """Return what is required. Raises CommandError where it cannot be held."""
    if arguments.require and arguments.no_wait:
        raise CommandError(Exit.CONFIGURATION, "--require needs the grades: leave --no-wait out")
    return list(map(_minimum, arguments.require))


def _minimum(said: str) -> Minimum:
    name, _, share = said.rpartition("=")
    metric, colon, tool = name.partition(":")
    try:
        minimum = float(share)
    except ValueError:
        minimum = -1.0
    if metric not in REQUIRED or not 0 <= minimum <= 1 or (colon and not tool):
        words = f"--require {said}: is not a layer or metric with a share from 0 to 1, such as outcome=0.9"
        raise CommandError(Exit.CONFIGURATION, words)
    return Minimum(metric, tool, minimum)


def gate_run(client: ProjectClient, number: int, minimums: Sequence[Minimum]) -> Exit:
    """Hold a run against what is required, say on standard error how each came out, and return the exit status."""
    if not minimums:
        return Exit.OK
    cases = list(_cases(client, number))
    result = GateResult(tuple(check for minimum in minimums for check in minimum.checks(cases)))
    for check in result.checks:
        note(_line(check))
    note(f"gate: {result.status}")
    return EXITS.get(result.status, Exit.FAILED)


def _cases(client: ProjectClient, number: int) -> Iterator[GateCase]:
    for row in client.pages(f"runs/{number}/graded-cases/"):
        statuses = {name: row[name] for name in VERDICT_NAMES}
        scores = verdict_scores(statuses)
        metrics = row["metrics"]
        # A metric without a value does not arise in a case that is scored; of the others it is still to be found.
        known = statuses["selection"] in ("passed", "failed")
        scores |= {name: value for name, value in metrics.items() if value is not None or not known}
        passed = {name: value >= METRICS[name].passes_at for name, value in metrics.items() if value is not None}
        yield GateCase(row["external_id"], scores, row["trial"], row["expected"], row["actual"], passed=passed)


def _line(check: Check) -> str:
    observed = "nothing scored" if check.observed is None else f"{check.observed:.1%} of {check.count}"
    return f"  {check.status:<10} {check.name}: {observed}{f'; {check.reason}' if check.reason else ''}"
