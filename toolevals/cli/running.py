"""Runs `toolevals run`: evaluates an agent, the baseline, or predictions made elsewhere, over a server's dataset."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from toolevals.agents.connectors import CONNECTORS, DEFAULT
from toolevals.cli.client import ProjectClient, add_server_options
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.gating import add_gate_option, gate_run, minimums_in
from toolevals.cli.inputs import input_file, once_at_most
from toolevals.cli.output import note, say, say_progress
from toolevals.cli.run_models import add_agent_options, asked_of_agent, connector_of, given, key_keep, model_named
from toolevals.cli.verbs import Verbs
from toolevals.cli.what_was_read import say_what_was_read
from toolevals.grading.engine.grader_catalog import OUTCOME_COUNTS
from toolevals.grading.engine.grading import CUT_OFF
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.scope.presets import PRESETS

# So many errored cases are told with their reasons.
EXPLAINED = 5
# The whole case comes last.
LAYERS = (*(name for name in VERDICT_NAMES if name != "outcome"), "outcome")


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("run")
    parser.add_argument(
        "dataset", metavar="DATASET", help="the dataset's slug; also with a version, as core@3 or core@TAG"
    )
    parser.add_argument("--version", metavar="N", help="of the dataset, by number or tag; by default the newest")
    parser.add_argument("--experiment", metavar="NAME", help="a new one is made; by default the agent's name")
    parser.add_argument("--trials", type=int, default=1, metavar="K")
    parser.add_argument("--failing-of", type=int, metavar="RUN", help="only the examples that failed in that run")
    parser.add_argument("--preset", choices=list(PRESETS), help="a part of the dataset, chosen and tried as it says")
    parser.add_argument("--registry", metavar="SLUG", help="where the agent's own wording of the tools is kept")
    parser.add_argument("--registry-version", type=int, metavar="N")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--baseline", action="store_true", help="run the built-in baseline")
    what.add_argument("--predictions", type=Path, metavar="FILE", help="JSON Lines of predictions; - is standard input")
    what.add_argument("--connector", choices=list(CONNECTORS), help="how the run asks an agent")
    parser.add_argument("--base-url", metavar="URL", help=f"the agent's address; alone it means --connector {DEFAULT}")
    parser.add_argument("--url", metavar="URL", help="of a webhook")
    parser.add_argument("--threshold", type=float, metavar="X", help="of the baseline")
    parser.add_argument("--name", metavar="NAME", help="the agent's name; of a model by default the model's")
    words = (
        "with its protocol as openai:NAME or anthropic:NAME, its key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY"
    )
    parser.add_argument("--model", default="", metavar="NAME", help=words)
    parser.add_argument("--prompt-version", default="", metavar="V")
    parser.add_argument("--commit", default="", metavar="SHA")
    parser.add_argument(
        "--cut-off", choices=CUT_OFF, help="conversations that were cut before their end (default: failed)"
    )
    add_agent_options(parser)
    add_gate_option(parser)
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the grades")
    parser.add_argument("--json", action="store_true", help="print the run as the REST interface shows it")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Start the run, wait for its grades, print them, and hold them against what is required."""
    once_at_most(**{"--predictions": arguments.predictions, "--system": arguments.system})
    model_named(arguments)
    connector, minimums = _what(arguments), minimums_in(arguments)
    arguments.experiment = arguments.experiment or arguments.name or arguments.model or "baseline"
    client = ProjectClient.from_arguments(arguments)
    if arguments.estimate:
        asked = _asked(arguments) | asked_of_agent(arguments, connector)
        say(json.dumps(client.request("POST", "runs/live/estimate/", json=asked), indent=2))
        return Exit.OK
    key_keep(client, arguments)
    started = _start(client, arguments, connector)
    number = started["run"]["number"]
    if not arguments.no_wait:
        say_what_was_read(client.wait(started["job"], say=say_progress)["report"])
    shown = client.request("GET", f"runs/{number}/")
    say(json.dumps(shown, indent=2) if arguments.json else summary(shown, client))
    status = gate_run(client, number, minimums)
    return max(status, _errored(client, shown))


def _what(arguments: argparse.Namespace) -> str:
    """Return the connector, empty where none is meant. Raises CommandError where it is not clear what is to be run."""
    connector = connector_of(arguments)
    if (bool(connector), bool(arguments.baseline), bool(arguments.predictions)).count(True) != 1:
        raise CommandError(Exit.CONFIGURATION, "say one of --connector, --base-url, --baseline and --predictions")
    if arguments.predictions and not arguments.name:
        raise CommandError(Exit.CONFIGURATION, "--predictions needs --name: which agent made them")
    if arguments.predictions and (arguments.failing_of or arguments.preset):
        raise CommandError(
            Exit.CONFIGURATION, "--failing-of and --preset need an agent that is asked, not --predictions"
        )
    if arguments.estimate and not connector:
        raise CommandError(Exit.CONFIGURATION, "--estimate needs --connector: only a live agent has a cost")
    return connector


def _start(client: ProjectClient, arguments: argparse.Namespace, connector: str) -> Any:
    asked = _asked(arguments)
    if connector:
        return client.post_once("runs/live/", json=asked | asked_of_agent(arguments, connector))
    if arguments.baseline:
        return client.post_once("runs/", json=asked | given(arguments, "threshold"))
    asked |= {name: getattr(arguments, name) for name in ("name", "model", "prompt_version", "commit")}
    asked |= given(arguments, "cut_off")
    fields = {name: str(value) for name, value in asked.items()}
    with input_file(arguments.predictions) as file:
        return client.upload("runs/predictions/", file, fields)


def _asked(arguments: argparse.Namespace) -> dict[str, Any]:
    return given(
        arguments, "experiment", "dataset", "version", "trials", "registry", "registry_version", "failing_of", "preset"
    )


def _errored(client: ProjectClient, shown: dict[str, Any]) -> Exit:
    """Say why cases are errored, of the first few; where nothing else came out, the run has shown nothing."""
    outcome = (shown["shown"] or {}).get("counts", {}).get("outcome", {})
    if not outcome.get("errored"):
        return Exit.OK
    first = client.request("GET", f"runs/{shown['number']}/cases/", params={"outcome": "errored"})["results"]
    for case in first[:EXPLAINED]:
        detail = client.request("GET", f"runs/{shown['number']}/cases/{case['id']}/")["detail"]
        note(f"errored: {case['example']}, trial {case['trial']}: {detail['verdicts']['outcome'].get('reason', '')}")
    if (more := outcome["errored"] - len(first[:EXPLAINED])) > 0:
        note(f"errored: {more:,} more")
    if outcome.get("passed") or outcome.get("failed"):
        return Exit.OK
    note(f"Nothing is scored. To re-run: toolevals retry {shown['number']} --errored")
    return Exit.FAILED


def summary(shown: dict[str, Any], client: ProjectClient) -> str:
    """Return a run's address and its rates as lines."""
    number = shown["number"]
    lines = [f"run {number}: {client.page(f'runs/{number}/')}"]
    grading = shown["shown"] or {}
    counts, rates = grading.get("counts", {}), grading.get("rates", {})
    lines += (_line(layer, counts[layer], rates.get(layer)) for layer in LAYERS if layer in counts)
    if "outcome" in counts:
        lines.append(f"  Unless an example says otherwise, the outcome counts {OUTCOME_COUNTS}.")
    lines += (f"  {said['words']}" for name in ("label_noise", "corrected") if (said := shown.get(name)))
    return "\n".join(lines)


def _line(layer: str, counts: dict[str, int], rate: dict[str, Any] | None) -> str:
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    scored = passed + failed
    beside = ", ".join(f"{counts[status]} {status}" for status in ("unscored", "errored") if counts.get(status))
    if not scored or rate is None:
        return f"  {layer:<12} not scored{f' ({beside})' if beside else ''}"
    said = (
        f"{passed} of {scored}, {passed / scored:.1%} ({rate['interval']['low']:.1%} to {rate['interval']['high']:.1%})"
    )
    return f"  {layer:<12} {said}{f', {beside}' if beside else ''}"
