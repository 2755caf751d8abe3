"""Runs `toolevals jobs`: lists the project's background work; pauses, resumes, cancels and retries a job."""

from __future__ import annotations

import argparse
import json
from itertools import islice
from urllib.parse import quote

from toolevals.cli.output import CommandError, Exit, say
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.json_types import JsonObject

# Each act with the request that does it.
ACTS = {
    "pause": ("POST", "jobs/{}/pause/", "pause the job"),
    "resume": ("POST", "jobs/{}/resume/", "resume the job"),
    "cancel": ("DELETE", "jobs/{}/", "cancel the job; finished work is kept"),
    "retry": ("POST", "jobs/{}/retry/", "retry failed or cancelled work"),
}
LISTED = 20


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("jobs")
    parser.add_argument("job", nargs="?", metavar="ID", help=f"one job; without it the newest {LISTED} are listed")
    acts = parser.add_mutually_exclusive_group()
    for name, (_, _, text) in ACTS.items():
        acts.add_argument(f"--{name}", dest="act", action="store_const", const=name, help=text)
    parser.add_argument(
        "--wait", action="store_true", help="wait until the job ends; exit with 5 if it failed or was cancelled"
    )
    parser.add_argument("--json", action="store_true", help="print what the REST interface shows")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked and print the job, or list jobs."""
    if (arguments.act or arguments.wait) and not arguments.job:
        raise CommandError(Exit.CONFIGURATION, f"--{arguments.act or 'wait'} needs the ID of a job")
    client = project_of(arguments)
    if arguments.job:
        method, path, _ = ACTS.get(arguments.act, ("GET", "jobs/{}/", ""))
        shown = [client.request(method, path.format(quote(arguments.job, safe="")))]
        if arguments.wait:
            shown = [client.wait(shown[0])]
    else:
        shown = list(islice(client.pages("jobs/"), LISTED))
    say(json.dumps(shown, indent=2) if arguments.json else "\n".join(map(_line, shown)))
    return Exit.OK


def _line(job: JsonObject) -> str:
    pace = f", {job['rate']:,.1f} a second, {job['seconds_left']:,.0f} s left in this step" if job["rate"] else ""
    line = f"{job['id']}  {job['state']:<9}  {job['done']} of {job['total']}{pace}  {job['title']}"
    return f"{line}\n  {job['reason']}" if job.get("reason") else line
