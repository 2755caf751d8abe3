"""Writes the table of a measurement, as a document and as Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.side_by_side.drivers import Took
from benchmarks.side_by_side.measuring import Found
from benchmarks.side_by_side.tools import LINES, OTHERS, OURS, OVERLAP, Line, Tool

MICRO = 1_000_000


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
    for measure in ("processor", "clock"):
        mine, other = ([getattr(took, measure) / units for took in each] for each in zip(*pairs, strict=True))
        ratios = [second / first for first, second in zip(mine, other, strict=True)]
        row[measure] = {
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
