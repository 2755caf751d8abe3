"""Runs the measurements in benchmarks/: `./dev bench`."""

from __future__ import annotations

import argparse

from scripts.dev.environment import become, ensure, in_venv, keep_bytecode


def bench(arguments: argparse.Namespace) -> int:
    """Measure what the words after the verb name; `python -m benchmarks` reads them."""
    ensure("dev")
    # As in any installation: a server that compiles all of it again starts twice as slowly.
    keep_bytecode()
    become(in_venv("-m", "benchmarks", *arguments.options))
