"""Runs `toolevals run`: evaluates an agent, the baseline, or predictions made elsewhere, over a server's dataset."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolevals.agents.connectors import CONNECTORS, DEFAULT
from toolevals.agents.options import is_address
from toolevals.cli.inputs import input_file, once_at_most, read_input_text, say_what_was_read
from toolevals.cli.output import CommandError, Exit, note, say
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.client import Project
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.engine.grader_catalog import OUTCOME_COUNTS
from toolevals.grading.engine.grading import CUT_OFF
from toolevals.grading.gates.case_table import verdict_scores
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.gates.results import Check, GateCase, GateResult
from toolevals.grading.gates.rules import default_gate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonObject
from toolevals.runs.runs.presets import PRESETS

# The providers' own addresses, where neither the options nor the environment name another.
PROVIDERS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
# Options whose flags have another name or no value of their own are read apart.
OPTIONS = (
    "base_url",
    "url",
    "secret",
    "temperature",
    "seed",
    "max_tokens",
    "tools",
    "strict_tools",
    "stream",
    "agent_timeout",
)
SETTINGS = ("concurrency", "requests_per_minute", "max_steps", "budget", "cut_off")


def model_named(arguments: argparse.Namespace) -> None:
    """Take a model such as `openai:small` apart: its connector, address and name become the arguments' own.

    Raises CommandError where no name follows, or where the address is none.
    """
    protocol, separator, name = arguments.model.partition(":")
    arguments.keeps_key = False
    if not separator or protocol not in PROVIDERS or _is_said_otherwise(arguments):
        return
    if not name:
        raise CommandError(Exit.CONFIGURATION, f"--model {arguments.model}: name the model, as {protocol}:NAME")
    variable = f"{protocol.upper()}_BASE_URL"
    arguments.connector, arguments.model = protocol, name
    arguments.base_url = arguments.base_url or os.environ.get(variable) or PROVIDERS[protocol]
    if not is_address(arguments.base_url):
        words = f"{arguments.base_url}: is not an HTTP URL; set it with --base-url or {variable}"
        raise CommandError(Exit.CONFIGURATION, words)
    arguments.keeps_key = not arguments.secret


def key_keep(client: Project, arguments: argparse.Namespace) -> None:
    """Let the run use the project's secret for the model's address; where there is none, keep the key as one.

    The key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY, and sent only where the project does not hold it yet.
    """
    if not arguments.keeps_key:
        return
    address = urlsplit(arguments.base_url)
    origin = f"{address.scheme}://{address.netloc}"
    name = f"{arguments.connector}-{re.sub(r'[^a-z0-9]+', '-', address.netloc.lower()).strip('-')}"
    variable = f"{arguments.connector.upper()}_API_KEY"
    if _is_kept(client, name):
        note(f"the key is the project's secret {name}; to replace it: {client.page('secrets/')}")
    elif key := os.environ.get(variable, ""):
        client.request("PUT", f"secrets/{name}/", json={"value": key, "addresses": [origin]})
        note(f"{variable} saved as project secret {name}; it is sent only to {origin}")
    else:
        note(f"{variable} is not set: calling {origin} without an API key")
        return
    arguments.secret = name


def _is_said_otherwise(arguments: argparse.Namespace) -> bool:
    said: tuple[Any, ...] = (arguments.connector, arguments.baseline, arguments.predictions)
    return any(said)


def _is_kept(client: Project, name: str) -> bool:
    return any(secret["name"] == name for secret in client.pages("secrets/"))


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of the agent and of how the run goes about it."""
    group = parser.add_argument_group("with --connector")
    group.add_argument("--secret", metavar="NAME", help="project secret with the API key or the signing key")
    group.add_argument("--temperature", type=float, metavar="T")
    group.add_argument("--seed", type=int, metavar="N")
    group.add_argument("--max-tokens", type=int, metavar="N")
    group.add_argument(
        "--system", type=Path, metavar="FILE", help="a prompt put before every conversation; - is standard input"
    )
    group.add_argument("--tools", choices=["native", "text"], help="how tools are offered")
    group.add_argument(
        "--strict-tools", action="store_true", default=None, help="send tools in strict mode where their schemas fit"
    )
    group.add_argument("--stream", action="store_true", default=None)
    group.add_argument("--agent-timeout", type=float, metavar="SECONDS", help="request timeout: seconds without data")
    group.add_argument("--concurrency", type=int, metavar="N", help="parallel conversations per worker")
    group.add_argument("--requests-per-minute", type=int, metavar="N")
    group.add_argument("--max-steps", type=int, metavar="N", help="maximum turns per conversation")
    group.add_argument("--input-price", type=float, metavar="X", help="price per million tokens")
    group.add_argument("--output-price", type=float, metavar="X", help="price per million tokens")
    group.add_argument(
        "--budget", type=float, metavar="X", help="stop starting conversations once this amount is spent"
    )
    group.add_argument("--guard", metavar="POLICY@VERSION", help="a policy that checks each call before it is made")
    group.add_argument("--guard-key", metavar="KEY", help="whose lists of the policy are met")
    group.add_argument("--estimate", action="store_true", help="print a minimum cost estimate and exit")


def connector_of(arguments: argparse.Namespace) -> str:
    """Return the connector that is meant, empty where none is. Raises CommandError where it lacks something."""
    connector: str = arguments.connector or (DEFAULT if arguments.base_url else "")
    if connector and CONNECTORS[connector].asks_model and not arguments.model:
        raise CommandError(Exit.CONFIGURATION, f"the connector {connector} needs --model")
    if connector and not (arguments.name or arguments.model):
        raise CommandError(Exit.CONFIGURATION, f"the connector {connector} needs --name")
    return connector


def asked_of_agent(arguments: argparse.Namespace, connector: str) -> JsonObject:
    """Return the connector, the agent's options and the run's settings, as the REST interface takes them."""
    options = {name.removeprefix("agent_"): value for name, value in given(arguments, *OPTIONS).items()}
    if arguments.system:
        options["system"] = read_input_text(arguments.system)
    settings = given(arguments, *SETTINGS)
    prices = {"input": arguments.input_price, "output": arguments.output_price}
    if any(price is not None for price in prices.values()):
        settings["prices"] = prices
    if arguments.guard:
        settings["guard"] = _guard_named(arguments.guard) | {"key": arguments.guard_key or ""}
    said = given(arguments, "model", "prompt_version", "commit") | {"name": arguments.name or arguments.model}
    return {**said, "connector": connector, "options": options, "settings": settings}


def _guard_named(said: str) -> JsonObject:
    policy, _, version = said.rpartition("@")
    if not policy or not version.isdecimal():
        raise CommandError(Exit.CONFIGURATION, f"--guard {said}: name a policy and its version, as desk@3")
    return {"policy": policy, "version": int(version)}


def given(arguments: argparse.Namespace, *names: str) -> JsonObject:
    """Return the arguments of these names that were given."""
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}


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
        help="exit with 2 if fewer cases pass, or too few are scored to decide; example: outcome=0.9; "
        f"with a tool, of the cases that expect it first, as selection:get_order=0.9; of {', '.join(REQUIRED)}",
    )


def minimums_in(arguments: argparse.Namespace) -> list[Minimum]:
    """Return what is required. Raises CommandError where it cannot be held."""
    if arguments.require and arguments.no_wait:
        raise CommandError(Exit.CONFIGURATION, "--require cannot be combined with --no-wait")
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


def gate_run(client: Project, number: int, minimums: Sequence[Minimum]) -> Exit:
    """Hold a run against what is required, say on standard error how each came out, and return the exit status."""
    if not minimums:
        return Exit.OK
    cases = list(_cases(client, number))
    result = GateResult(tuple(check for minimum in minimums for check in minimum.checks(cases)))
    for check in result.checks:
        note(_line_of_rule(check))
    note(f"gate: {result.status}")
    return EXITS.get(result.status, Exit.FAILED)


def _cases(client: Project, number: int) -> Iterator[GateCase]:
    for row in client.pages(f"runs/{number}/graded-cases/"):
        statuses = {name: row[name] for name in VERDICT_NAMES}
        scores = verdict_scores(statuses)
        metrics = row["metrics"]
        # A metric without a value does not arise in a case that is scored; of the others it is still to be found.
        known = statuses["selection"] in ("passed", "failed")
        scores |= {name: value for name, value in metrics.items() if value is not None or not known}
        passed = {name: value >= METRICS[name].passes_at for name, value in metrics.items() if value is not None}
        yield GateCase(row["external_id"], scores, row["trial"], row["expected"], row["actual"], passed=passed)


def _line_of_rule(check: Check) -> str:
    observed = "nothing scored" if check.observed is None else f"{check.observed:.1%} of {check.count}"
    return f"  {check.status:<10} {check.name}: {observed}{f'; {check.reason}' if check.reason else ''}"


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
    parser.add_argument("--version", metavar="N", help="dataset version, by number or tag; default: newest")
    parser.add_argument("--experiment", metavar="NAME", help="created if it does not exist; default: the agent's name")
    parser.add_argument("--trials", type=int, default=1, metavar="K")
    parser.add_argument("--failing-of", type=int, metavar="RUN", help="only the examples that failed in that run")
    parser.add_argument(
        "--preset", choices=list(PRESETS), help="a preset: a subset of the examples with its own number of trials"
    )
    parser.add_argument("--registry", metavar="SLUG", help="registry with the agent's own tool descriptions")
    parser.add_argument("--registry-version", type=int, metavar="N")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--baseline", action="store_true", help="run the built-in baseline")
    what.add_argument("--predictions", type=Path, metavar="FILE", help="JSON Lines of predictions; - is standard input")
    what.add_argument("--connector", choices=list(CONNECTORS), help="how to call the agent")
    parser.add_argument("--base-url", metavar="URL", help=f"API base URL; without --connector it means {DEFAULT}")
    parser.add_argument("--url", metavar="URL", help="webhook URL")
    parser.add_argument("--threshold", type=float, metavar="X", help="minimum relevance of the baseline agent, 0 to 1")
    parser.add_argument("--name", metavar="NAME", help="agent name; default: the model name")
    words = (
        "model name; with openai:NAME or anthropic:NAME the API key is read from OPENAI_API_KEY or ANTHROPIC_API_KEY"
    )
    parser.add_argument("--model", default="", metavar="NAME", help=words)
    parser.add_argument("--prompt-version", default="", metavar="V")
    parser.add_argument("--commit", default="", metavar="SHA")
    parser.add_argument(
        "--cut-off", choices=CUT_OFF, help="how to grade conversations that stopped early (default: failed)"
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
    client = project_of(arguments)
    if arguments.estimate:
        asked = _asked(arguments) | asked_of_agent(arguments, connector)
        say(json.dumps(client.request("POST", "runs/live/estimate/", json=asked), indent=2))
        return Exit.OK
    key_keep(client, arguments)
    started = _start(client, arguments, connector)
    number = started["run"]["number"]
    if not arguments.no_wait:
        say_what_was_read(client.wait(started["job"])["report"])
    shown = client.request("GET", f"runs/{number}/")
    say(json.dumps(shown, indent=2) if arguments.json else summary(shown, client))
    status = gate_run(client, number, minimums)
    return max(status, _errored(client, shown))


def _what(arguments: argparse.Namespace) -> str:
    """Return the connector, empty where none is meant. Raises CommandError where it is not clear what is to be run."""
    connector = connector_of(arguments)
    if (bool(connector), bool(arguments.baseline), bool(arguments.predictions)).count(True) != 1:
        raise CommandError(
            Exit.CONFIGURATION, "give exactly one of --connector, --base-url, --baseline or --predictions"
        )
    if arguments.predictions and not arguments.name:
        raise CommandError(Exit.CONFIGURATION, "--predictions needs --name: which agent made them")
    if arguments.predictions and (arguments.failing_of or arguments.preset):
        raise CommandError(
            Exit.CONFIGURATION, "--failing-of and --preset cannot be used with --predictions: they need a live agent"
        )
    if arguments.estimate and not connector:
        raise CommandError(Exit.CONFIGURATION, "--estimate needs --connector: only a live agent has a cost")
    return connector


def _start(client: Project, arguments: argparse.Namespace, connector: str) -> Any:
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


def _asked(arguments: argparse.Namespace) -> JsonObject:
    return given(
        arguments, "experiment", "dataset", "version", "trials", "registry", "registry_version", "failing_of", "preset"
    )


def _errored(client: Project, shown: JsonObject) -> Exit:
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
    note(f"No scored cases. To re-run errored cases: toolevals retry {shown['number']} --errored")
    return Exit.FAILED


def summary(shown: JsonObject, client: Project) -> str:
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


def _line(layer: str, counts: dict[str, int], rate: JsonObject | None) -> str:
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    scored = passed + failed
    beside = ", ".join(f"{counts[status]} {status}" for status in ("unscored", "errored") if counts.get(status))
    if not scored or rate is None:
        return f"  {layer:<12} not scored{f' ({beside})' if beside else ''}"
    said = (
        f"{passed} of {scored}, {passed / scored:.1%} ({rate['interval']['low']:.1%} to {rate['interval']['high']:.1%})"
    )
    return f"  {layer:<12} {said}{f', {beside}' if beside else ''}"
