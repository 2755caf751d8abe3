"""Runs `toolevals compare`: says whether a second run is better than a first one, as the server says it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from toolevals.cli.output import Exit, say, table
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs
from toolevals.json_types import JsonMapping
from toolevals.presentation.numbers import p_value, part_count, percent, points, signed_span

LAYERS = ("rate", "n", "before", "after", "points", "95 %", "fixed", "broken", "p", "p, Holm")
TOOLS = ("tool", "n", "recall", "points", "missed", "p, Holm", "called wrongly", "p, Holm")
MOST_TOOLS = 25


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("compare")
    parser.add_argument("baseline", type=int, metavar="BASELINE", help="the earlier run's number")
    parser.add_argument("candidate", type=int, metavar="CANDIDATE", help="the later run's number")
    parser.add_argument("--layer", default="", metavar="LAYER", help="layer to summarise; default: outcome")
    parser.add_argument("--json", action="store_true", help="print everything as the REST interface shows it")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison: the sentence, then layers and the tools that moved."""
    client = project_of(arguments)
    path = f"runs/{arguments.baseline}/compare/{arguments.candidate}/"
    found = client.request("GET", path, params={"layer": arguments.layer})
    tools = client.request("GET", f"{path}tools/")["tools"]
    say(json.dumps(found | {"tools": tools}, indent=2) if arguments.json else "\n".join(_text(found, tools)))
    return Exit.OK


def _text(found: JsonMapping, tools: list[JsonMapping]) -> Iterator[str]:
    yield found["sentence"]
    yield from (
        line
        for line in (found["details"], found.get("label_noise"), found["tools_sentence"], *found["cautions"])
        if line
    )
    differing = "; ".join(f"{each['what']} {each['before']} -> {each['after']}" for each in found["differences"])
    left_out = ", ".join(f"{count} {why}" for why, count in found["outside"].items() if count)
    yield f"{found['examples']} examples compared{f', left out: {left_out}' if left_out else ''}"
    yield f"differs: {differing or 'nothing about agent or dataset'}"
    yield ""
    yield table(LAYERS, map(_layer, found["layers"]))
    moved = [row for row in tools if any(row[kind]["fixed"] or row[kind]["broken"] for kind in ("missed", "wrong"))]
    yield table(TOOLS, map(_tool, moved[:MOST_TOOLS]))
    if len(moved) > MOST_TOOLS:
        yield f"{len(moved) - MOST_TOOLS} more tools changed; use --json to list all"


def _layer(row: JsonMapping) -> tuple[str, ...]:
    interval = row["interval"] or {"low": None, "high": None}
    return (
        row["name"],
        str(row["examples"]),
        percent(row["before"]),
        percent(row["after"]),
        points(row["difference"]),
        signed_span(interval["low"], interval["high"]),
        str(row["fixed"]),
        str(row["broken"]),
        p_value(row["p_value"]),
        p_value(row["p_holm"]),
    )


def _tool(row: JsonMapping) -> tuple[str, ...]:
    recall = row["recall"]
    mistakes = (
        text
        for kind in (row["missed"], row["wrong"])
        for text in (f"{part_count(kind['before'])} -> {part_count(kind['after'])}", p_value(kind["p_holm"]))
    )
    sides = f"{percent(recall['before'])} -> {percent(recall['after'])}"
    return row["tool"], part_count(row["support"][0]), sides, points(recall["difference"]), *mistakes
