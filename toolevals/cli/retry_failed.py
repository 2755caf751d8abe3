"""Run what is errored or failed in a run again (`toolevals retry`), and export it (`toolevals failing`)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from toolevals.cli.output import Exit, say, write_parts
from toolevals.cli.running import summary
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs

# What is retried: the address below the run's, and what it starts.
WHAT = {
    "errored": (
        "errored/",
        "re-run errored cases: agents that could not be reached, simulators that failed",
    ),
    "failing": ("failing/", "start a new run with the same settings on the failed examples"),
    "grades": ("gradings/", "grade its transcripts with today's graders on the newest version"),
}


def add_parser(verbs: Verbs) -> None:
    """Add both verbs."""
    retry = verbs.add_parser("retry")
    retry.add_argument("number", type=int, metavar="RUN", help="the run's number")
    what = retry.add_mutually_exclusive_group(required=True)
    for name, (_, text) in WHAT.items():
        what.add_argument(f"--{name}", dest="what", action="store_const", const=name, help=text)
    retry.add_argument("--no-wait", action="store_true", help="do not wait for the grades")
    retry.add_argument("--json", action="store_true", help="print the run as the REST interface shows it")
    add_server_options(retry)
    retry.set_defaults(run=run)
    failing = verbs.add_parser("failing")
    failing.add_argument("number", type=int, metavar="RUN", help="the run's number")
    failing.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
    failing.add_argument("-o", "--output", type=Path, metavar="FILE", help="by default standard output")
    add_server_options(failing)
    failing.set_defaults(run=export)


def run(arguments: argparse.Namespace) -> int:
    """Retry it, wait for its end and print the run's rates, as `toolevals run` does."""
    client = project_of(arguments)
    path, _ = WHAT[arguments.what]
    started = client.post_once(f"runs/{arguments.number}/{path}", json={})
    if not arguments.no_wait:
        client.wait(started["job"])
    number = started["run"]["number"] if "run" in started else arguments.number
    shown = client.request("GET", f"runs/{number}/")
    say(json.dumps(shown, indent=2) if arguments.json else summary(shown, client))
    return Exit.OK


def export(arguments: argparse.Namespace) -> int:
    """Write the failing cases."""
    client = project_of(arguments)
    parts = client.download(f"runs/{arguments.number}/failing.{arguments.format}")
    write_parts(parts, arguments.output)
    return Exit.OK
