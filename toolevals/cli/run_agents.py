"""Tell what `toolevals run` says of an agent that is asked while the run lasts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from toolevals.agents.connectors import CONNECTORS, DEFAULT
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.inputs import read_input_text

# Options whose flags have another name or no value of their own are read apart.
OPTIONS = ("base_url", "url", "secret", "temperature", "seed", "max_tokens", "tools", "stream", "agent_timeout")
SETTINGS = ("concurrency", "requests_per_minute", "max_steps", "budget", "cut_off")


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of the agent and of how the run goes about it."""
    group = parser.add_argument_group("with --connector")
    group.add_argument("--secret", metavar="NAME", help="the project's secret that lets it in, or signs requests")
    group.add_argument("--temperature", type=float, metavar="T")
    group.add_argument("--seed", type=int, metavar="N")
    group.add_argument("--max-tokens", type=int, metavar="N")
    group.add_argument(
        "--system", type=Path, metavar="FILE", help="a prompt put before every conversation; - is standard input"
    )
    group.add_argument("--tools", choices=["native", "text"], help="how tools are offered")
    group.add_argument("--stream", action="store_true", default=None)
    group.add_argument(
        "--agent-timeout", type=float, metavar="SECONDS", help="of silence, after which a request failed"
    )
    group.add_argument("--concurrency", type=int, metavar="N", help="conversations at once in each worker")
    group.add_argument("--requests-per-minute", type=int, metavar="N")
    group.add_argument("--max-steps", type=int, metavar="N", help="most turns of a conversation")
    group.add_argument("--input-price", type=float, metavar="X", help="of a million tokens")
    group.add_argument("--output-price", type=float, metavar="X", help="of a million tokens")
    group.add_argument("--budget", type=float, metavar="X", help="the run ends when it has cost so much")
    group.add_argument("--estimate", action="store_true", help="only say what the run takes at least")


def connector_of(arguments: argparse.Namespace) -> str:
    """Return the connector that is meant, empty where none is. Raises CommandError where it lacks something."""
    connector: str = arguments.connector or (DEFAULT if arguments.base_url else "")
    if connector and CONNECTORS[connector].asks_model and not arguments.model:
        raise CommandError(Exit.CONFIGURATION, f"the connector {connector} needs --model: which model is asked")
    if connector and not (arguments.name or arguments.model):
        raise CommandError(Exit.CONFIGURATION, f"the connector {connector} needs --name: what the agent is called")
    return connector


def asked_of_agent(arguments: argparse.Namespace, connector: str) -> dict[str, Any]:
    """Return the connector, the agent's options and the run's settings, as the REST interface takes them."""
    options = {name.removeprefix("agent_"): value for name, value in given(arguments, *OPTIONS).items()}
    if arguments.system:
        options["system"] = read_input_text(arguments.system)
    settings = given(arguments, *SETTINGS)
    prices = {"input": arguments.input_price, "output": arguments.output_price}
    if any(price is not None for price in prices.values()):
        settings["prices"] = prices
    said = given(arguments, "model", "prompt_version", "commit") | {"name": arguments.name or arguments.model}
    return {**said, "connector": connector, "options": options, "settings": settings}


def given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the arguments of these names that were given."""
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}
