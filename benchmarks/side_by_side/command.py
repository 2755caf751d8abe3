"""Reads the command line of `./dev bench side-by-side`, and measures what it names."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks._revisions import commit_of
from benchmarks.side_by_side.measuring import Sizes, measure
from benchmarks.side_by_side.table import document, markdown
from benchmarks.side_by_side.tools import EXECUTION, GRADING, LABELLING, NEVER
from scripts.dev.environment import ROOT, VENV

KINDS = (LABELLING, GRADING, EXECUTION)
FULL = Sizes()
SMOKE = Sizes(examples=200, labels=5, people=4, contested=10, entries=100, trajectories=2, rounds=1)
SECONDS = 900


def main(words: Sequence[str]) -> int:
    """Measure, print the table, and write it as Markdown and JSON.

    Return 1 where a tool that should have been measured was not.
    """
    arguments = _parser().parse_args(words)
    chosen = SMOKE if arguments.smoke else FULL
    asked = {name: getattr(arguments, name) for name in ("examples", "labels", "people", "rounds", "entries")}
    sizes = Sizes(**(_fields(chosen) | {name: value for name, value in asked.items() if value is not None}))
    # It may change while this runs.
    commit = commit_of("HEAD")
    began, before = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="toolevals-side-by-side-") as folder:
        found = measure(
            arguments.kinds or KINDS,
            sizes,
            peers=arguments.environments,
            folder=Path(folder),
            seconds=arguments.timeout,
        )
    made = document(found, commit=commit, began=began, load=(before, os.getloadavg()[0]))
    text = markdown(made)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    arguments.output.with_suffix(".json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text)
    return 1 if len(found.missing) > len(NEVER) else 0


def _fields(sizes: Sizes) -> dict[str, int | None]:
    return {name: getattr(sizes, name) for name in Sizes.__slots__}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev bench side-by-side",
        description="Measure this project and other tools on the same inputs, in turns. Each is installed from the "
        "package index into an environment of its own. Status 1 where one could not be measured.",
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"any of {', '.join(KINDS)} (all)", type=_kind)
    parser.add_argument("--smoke", action="store_true", help="small sizes and one round: about a minute once installed")
    parser.add_argument("--examples", type=_count, help=f"that are imported ({FULL.examples:,})")
    parser.add_argument("--labels", type=_count, help=f"that one person gives ({FULL.labels})")
    parser.add_argument("--people", type=_people, help=f"who label at once ({FULL.people})")
    parser.add_argument("--entries", type=_count, help="that are graded (all)")
    parser.add_argument("--rounds", type=_count, help=f"of all tools in turns ({FULL.rounds})")
    parser.add_argument("--timeout", type=_count, default=SECONDS, help=f"seconds of one step at most ({SECONDS})")
    parser.add_argument("--environments", type=Path, default=VENV / "peers", help="folder of the environments")
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "side-by-side", help="the files, without ending")
    return parser


def _kind(text: str) -> str:
    if text not in KINDS:
        raise argparse.ArgumentTypeError(f"no such kind: {text}")
    return text


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("1 at least")
    return number


def _people(text: str) -> int:
    # Each adapter makes eight.
    if not 1 <= (number := int(text)) <= 8:
        raise argparse.ArgumentTypeError("from 1 to 8")
    return number
