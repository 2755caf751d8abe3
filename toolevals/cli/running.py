"""`toolevals run`: evaluate a model, the baseline, or predictions made elsewhere, over a dataset on a server."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from toolevals.cli.client import ProjectClient, add_server_options, say_progress
from toolevals.cli.exits import CommandError, Exit
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.verdicts import VERDICT_NAMES

# The whole case comes last.
LAYERS = (*(name for name in VERDICT_NAMES if name != "outcome"), "outcome")


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("run", help="evaluate a model, the baseline, or uploaded predictions, over a dataset")
    parser.add_argument(
        "dataset", metavar="DATASET", help="the dataset's slug; also with a version, as core@3 or core@TAG"
    )
    parser.add_argument("--version", metavar="N", help="of the dataset, by number or tag; by default the newest")
    parser.add_argument("--experiment", required=True, metavar="NAME", help="a new one is made")
    parser.add_argument("--trials", type=int, default=1, metavar="K")
    parser.add_argument("--registry", metavar="SLUG", help="where the agent's own wording of the tools is kept")
    parser.add_argument("--registry-version", type=int, metavar="N")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--baseline", action="store_true", help="run the built-in baseline")
    what.add_argument("--base-url", metavar="URL", help="ask a model behind the chat-completions protocol")
    what.add_argument("--predictions", type=Path, metavar="FILE", help="JSON Lines of predictions")
    parser.add_argument("--threshold", type=float, metavar="X", help="of the baseline")
    parser.add_argument("--name", metavar="NAME", help="the agent's name; of a model by default the model's")
    parser.add_argument("--model", default="")
    parser.add_argument("--prompt-version", default="", metavar="V")
    parser.add_argument("--commit", default="", metavar="SHA")
    _add_model_options(parser.add_argument_group("with --base-url"))
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the grades")
    parser.add_argument("--json", action="store_true", help="print the run as the REST interface shows it")
    add_server_options(parser)
    parser.set_defaults(run=run)


def _add_model_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--secret", metavar="NAME", help="the project's secret that lets it in")
    group.add_argument("--temperature", type=float, metavar="T")
    group.add_argument("--seed", type=int, metavar="N")
    group.add_argument("--max-tokens", type=int, metavar="N")
    group.add_argument("--system", type=Path, metavar="FILE", help="a prompt that is put before every conversation")
    group.add_argument("--tools", choices=["native", "text"], help="how tools are offered")
    group.add_argument("--stream", action="store_true", default=None)
    group.add_argument("--concurrency", type=int, metavar="N", help="conversations at once in each worker")
    group.add_argument("--requests-per-minute", type=int, metavar="N")
    group.add_argument("--max-steps", type=int, metavar="N", help="most turns of a conversation")
    group.add_argument("--input-price", type=float, metavar="X", help="of a million tokens")
    group.add_argument("--output-price", type=float, metavar="X", help="of a million tokens")
    group.add_argument("--budget", type=float, metavar="X", help="the run ends when it has cost so much")
    group.add_argument("--estimate", action="store_true", help="only say what the run takes at least")


def run(arguments: argparse.Namespace) -> int:
    """Start the run, wait for its grades and print them."""
    if arguments.predictions and not arguments.name:
        raise CommandError(Exit.CONFIGURATION, "--predictions needs --name: which agent made them")
    if arguments.base_url and not arguments.model:
        raise CommandError(Exit.CONFIGURATION, "--base-url needs --model: which model is asked")
    client = ProjectClient.from_arguments(arguments)
    if arguments.estimate:
        if not arguments.base_url:
            raise CommandError(Exit.CONFIGURATION, "--estimate needs --base-url: only a model costs anything")
        print(json.dumps(client.request("POST", "runs/live/estimate/", json=_asked_of_model(arguments)), indent=2))
        return Exit.OK
    started = _start(client, arguments)
    number = started["run"]["number"]
    if not arguments.no_wait:
        client.wait(started["job"], say=say_progress)
        say_progress("")
    shown = client.request("GET", f"runs/{number}/")
    print(json.dumps(shown, indent=2) if arguments.json else _summary(shown, arguments))
    return Exit.OK


def _start(client: ProjectClient, arguments: argparse.Namespace) -> Any:
    asked = _given(arguments, "experiment", "dataset", "version", "trials", "registry", "registry_version")
    if arguments.baseline:
        if arguments.threshold is not None:
            asked["threshold"] = arguments.threshold
        return client.request("POST", "runs/", json=asked)
    if arguments.base_url:
        return client.request("POST", "runs/live/", json=_asked_of_model(arguments))
    asked |= {name: getattr(arguments, name) for name in ("name", "model", "prompt_version", "commit")}
    fields = {name: str(value) for name, value in asked.items()}
    return client.upload("runs/predictions/", arguments.predictions, fields)


def _asked_of_model(arguments: argparse.Namespace) -> dict[str, Any]:
    asked = _given(arguments, "experiment", "dataset", "version", "trials", "registry", "registry_version")
    asked |= _given(arguments, "model", "prompt_version", "commit") | {"name": arguments.name or arguments.model}
    options = _given(arguments, "base_url", "secret", "temperature", "seed", "max_tokens", "tools", "stream")
    if arguments.system:
        options["system"] = arguments.system.read_text()
    settings = _given(arguments, "concurrency", "requests_per_minute", "max_steps", "budget")
    prices = {"input": arguments.input_price, "output": arguments.output_price}
    if any(price is not None for price in prices.values()):
        settings["prices"] = prices
    return {**asked, "options": options, "settings": settings}


def _given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}


def _summary(shown: dict[str, Any], arguments: argparse.Namespace) -> str:
    lines = [f"run {shown['number']}: {arguments.server}/p/{arguments.project}/runs/{shown['number']}/"]
    counts = (shown["shown"] or {}).get("counts", {})
    return "\n".join([*lines, *(_line(layer, counts[layer]) for layer in LAYERS if layer in counts)])


def _line(layer: str, counts: dict[str, int]) -> str:
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    scored = passed + failed
    beside = ", ".join(f"{counts[status]} {status}" for status in ("unscored", "errored") if counts.get(status))
    if not scored:
        return f"  {layer:<12} not scored{f' ({beside})' if beside else ''}"
    span = wilson(passed, scored)
    rate = f"{passed} of {scored}, {passed / scored:.1%} ({span.low:.1%} to {span.high:.1%})"
    return f"  {layer:<12} {rate}{f', {beside}' if beside else ''}"
