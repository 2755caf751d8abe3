"""Reads `toolevals run --model openai:NAME`: a model's protocol, address and name; keeps its key as a secret.

Tells what `toolevals run` says of an agent that is asked while the run lasts.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolevals.agents.connectors import CONNECTORS, DEFAULT
from toolevals.agents.option_checks import is_address
from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.inputs import read_input_text
from toolevals.cli.output import note

# The providers' own addresses, where neither the options nor the environment name another.
PROVIDERS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
# Options whose flags have another name or no value of their own are read apart.
OPTIONS = ("base_url", "url", "secret", "temperature", "seed", "max_tokens", "tools", "stream", "agent_timeout")
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
        words = f"{arguments.base_url}: is no address of HTTP; say it as --base-url or {variable}"
        raise CommandError(Exit.CONFIGURATION, words)
    arguments.keeps_key = not arguments.secret


def key_keep(client: ProjectClient, arguments: argparse.Namespace) -> None:
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
        note(f"{variable} is kept as the project's secret {name}, and sent to {origin} only")
    else:
        note(f"{variable} is not set: {origin} is asked without a key")
        return
    arguments.secret = name


def _is_said_otherwise(arguments: argparse.Namespace) -> bool:
    said: tuple[Any, ...] = (arguments.connector, arguments.baseline, arguments.predictions)
    return any(said)


def _is_kept(client: ProjectClient, name: str) -> bool:
    return any(secret["name"] == name for secret in client.pages("secrets/"))


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
