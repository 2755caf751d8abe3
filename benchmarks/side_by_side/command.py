"""Reads the command line of `./dev bench side-by-side`, measures what it names, and writes the table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._revisions import commit_of
from benchmarks.side_by_side.drivers import Took
from benchmarks.side_by_side.measuring import Found, Sizes, measure
from benchmarks.side_by_side.tools import EXECUTION, GRADING, LABELLING, LINES, NEVER, OTHERS, OURS, OVERLAP, Line, Tool
from scripts.dev.environment import ROOT, VENV

MICRO = 1_000_000
KINDS = (LABELLING, GRADING, EXECUTION)
FULL = Sizes()
SMOKE = Sizes(examples=200, labels=5, people=4, contested=10, entries=100, trajectories=2, rounds=1)
SECONDS = 900


def document(found: Found, *, commit: str, began: str, load: Sequence[float]) -> dict[str, Any]:
    """Return everything that was measured; seconds are those of one unit, medians over the rounds.

    `ratio` says how many times as long the other took as ours, by the pairs of rounds: median, least and most.
    `load` is the machine's load average before and after.
    """
    rows = [_row(line, tool, found) for line in LINES for tool in OTHERS if tool.kind == line.kind]
    kept = [row for row in rows if row is not None]
    return {
        "commit": commit,
        "began": began,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": [round(value, 1) for value in load],
        "versions": {_title(key): version for key, version in found.versions.items()},
        "rows": kept,
        "overlap": {_title(key): counts for key, counts in found.overlap.items()},
        "not_measured": [{"tool": title, "reason": reason} for title, reason in found.missing],
    }


def _row(line: Line, tool: Tool, found: Found) -> dict[str, Any] | None:
    """Return one comparison, or None where a side was not measured, which `missing` says."""
    ours = found.times.get((line.ours, OURS[line.kind].key), [])
    theirs = found.times.get((line.theirs, tool.key), [])
    pairs = list(zip(ours, theirs, strict=False))
    if not pairs:
        return None
    units = found.sizes[line.ours]
    row: dict[str, Any] = {"row": line.title, "other": tool.title, "unit": line.unit, "of": units, "rounds": len(pairs)}
    for figure in ("processor", "clock"):
        mine, other = ([getattr(took, figure) / units for took in each] for each in zip(*pairs, strict=True))
        ratios = [second / first for first, second in zip(mine, other, strict=True)]
        row[figure] = {
            "ours": median(mine),
            "other": median(other),
            "ratio": {"median": median(ratios), "least": min(ratios), "most": max(ratios)},
        }
    if line.kind == "grading":
        row["passed"] = {"ours": _result(ours), "other": _result(theirs)}
    return row


def _result(rounds: Sequence[Took]) -> Any:
    return rounds[-1].result


def _title(key: str) -> str:
    return next((tool.title for tool in OTHERS if tool.key == key), "toolevals")


def markdown(found: dict[str, Any]) -> str:
    """Return the table for people; what others do better is marked."""
    lines = [
        f"Measured {found['began']} at {found['commit'][:12]}, Python {found['python']}, on {found['processors']} "
        f"processors, at a load average of {found['load'][0]} before and {found['load'][-1]} after.",
        "",
        "Versions: "
        + ", ".join(f"{_cell(title)} {_cell(version)}" for title, version in found["versions"].items())
        + ".",
        "",
        "Times are medians of one unit. A ratio says how many times as long the other takes as toolevals, by pairs of "
        "rounds (least to most); below 1 the other is faster.",
        "",
        "| | beside | toolevals, processor | the other | ratio | by the clock | passed, ours and theirs |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_line(row) for row in found["rows"]),
    ]
    if found["overlap"]:
        lines += ["", f"Overlap, {OVERLAP}, several at once: examples by the number of their labels.", ""]
        lines += ["| | examples by labels | more than two | requests refused |", "| --- | --- | --- | --- |"]
        lines += [_overlap(title, counts) for title, counts in found["overlap"].items()]
    lines += ["", "Not measured:", ""]
    lines += [f"- {_cell(each['tool'])} {_cell(each['reason'])}" for each in found["not_measured"]]
    return "\n".join(lines) + "\n"


def _line(row: dict[str, Any]) -> str:
    processor, clock = row["processor"], row["clock"]
    ratio = processor["ratio"]
    spread = f"{ratio['median']:.2f} ({ratio['least']:.2f} to {ratio['most']:.2f})"
    slower = ", the other is faster" if ratio["median"] < 1 else ""
    passed = f"{row['passed']['ours']:,} and {row['passed']['other']:,} of {row['of']:,}" if "passed" in row else ""
    cells = [
        f"{row['row']}, {row['of']:,} in {row['rounds']} rounds",
        row["other"],
        _time(processor["ours"]),
        _time(processor["other"]),
        spread + slower,
        f"{clock['ratio']['median']:.2f}",
        passed,
    ]
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _overlap(title: str, counts: dict[str, int]) -> str:
    held = {int(number): times for number, times in counts.items() if number != "refused"}
    over = sum(times for number, times in held.items() if number > 2)
    words = ", ".join(f"{times:,} with {number}" for number, times in sorted(held.items()))
    return f"| {_cell(title)} | {words} | {over:,} | {counts['refused']:,} |"


def _time(seconds: float) -> str:
    micro = seconds * MICRO
    return f"{micro / 1000:,.1f} ms" if micro >= 1000 else f"{micro:,.1f} µs"


def _cell(text: str) -> str:
    """Return text that ends no cell and no row of a table, and marks nothing up."""
    one_line = " ".join(text.split())
    return one_line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


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
