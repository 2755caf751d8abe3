"""`./dev bench`: the measurements in benchmarks/."""

from __future__ import annotations

import argparse

from scripts.dev.environment import become, ensure, in_venv


def bench(arguments: argparse.Namespace) -> int:
    """Measure these suites, or all."""
    ensure("dev")
    become(in_venv("-m", "benchmarks", *arguments.suites, *(["--json"] if arguments.json else [])))
