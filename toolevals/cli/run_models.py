"""Reads `toolevals run --model openai:NAME`: a model's protocol, address and name; keeps its key as a secret."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any
from urllib.parse import urlsplit

from toolevals.agents.option_checks import is_address
from toolevals.cli.client import ProjectClient
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.output import note

# The providers' own addresses, where neither the options nor the environment name another.
PROVIDERS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}


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
