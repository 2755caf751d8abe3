"""Run suites and print their rows: `python -m benchmarks [SUITE...] [--json]`. Exit status 1 if a row is not ok.

`--compare REV` measures another commit next to this checkout, in turns, and says what became slower beyond the noise.
`side-by-side` measures other tools.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import side_by_side
from benchmarks._pairs import FEWEST_PAIRS, Better, changes, figures_of
from benchmarks._revisions import RevisionError, Tree, checked_out
from scripts.dev.environment import ROOT

# Of a comparison that names none: those that take seconds.
SUITES = ("grading",)
PAIRS = 8
# A suite that hangs must not hold the comparison for ever.
SECONDS = 3600
NOT_SUITES = {"__main__", "row", "peers", "side_by_side"}
SIDE_BY_SIDE = "side-by-side"


@dataclass(slots=True)
class Measured:
    """The measurements of one side in one turn."""

    values: dict[str, float] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def compare(revision: str, suites: Sequence[str], *, pairs: int, own_suites: bool, as_json: bool) -> int:
    """Measure a commit and this checkout in turns, print each change, and return the exit status.

    1: something became slower, or is not measured any more. 2: nothing could be compared, or there is no such commit.
    """
    asked = tuple(suites) or SUITES
    # Ended in good order, it leaves no checked-out commit behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with checked_out(revision, own_suites=own_suites) as before:
            now = Tree(ROOT, sys.executable, "this checkout")
            found = []
            for number in range(pairs):
                found.append(_turn(number, before, now, asked))
                if not set(found[0][0].values) & set(found[0][1].values):
                    # Further pairs would take long, and say the same.
                    break
    except RevisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return report(found, as_json=as_json)


def report(found: Sequence[tuple[Measured, Measured]], *, as_json: bool) -> int:
    """Print the changes over these pairs of (before, now), and return the exit status."""
    better: dict[str, Better] = {}
    for before, now in found:
        better |= before.better | now.better
    figures = figures_of([(before.values, now.values) for before, now in found], better)
    stated = changes(figures)
    for change in stated:
        print(json.dumps(change.document()) if as_json else change.line())
    left_out = {figure.name: figure.problem for figure in figures if figure.problem}
    left_out |= {name: "measured on one side alone" for name in better if name not in {each.name for each in figures}}
    broken = {name: text for _, now in found for name, text in now.errors.items()}
    broken_before = {name: text for before, _ in found for name, text in before.errors.items()}
    told = {f"{name}, before": text for name, text in broken_before.items()} | {
        f"{name}, now": text for name, text in broken.items()
    }
    for name, reason in (left_out | told).items():
        document = {"name": name, "verdict": "not compared", "reason": reason}
        print(json.dumps(document) if as_json else f"{document['verdict']:<20} {name}: {reason}")
    gone = [name for name in broken if name not in broken_before]
    if not stated:
        return 2
    return 1 if gone or any(change.verdict == "slower" for change in stated) else 0


def _turn(number: int, before: Tree, now: Tree, suites: Sequence[str]) -> tuple[Measured, Measured]:
    """Measure both once; each goes first in every other turn, so that a drift of the machine falls on both."""
    sys.stderr.write(f"pair {number + 1}\n")
    order = (before, now) if number % 2 == 0 else (now, before)
    found = {tree.commit: measured(tree, suites) for tree in order}
    return found[before.commit], found[now.commit]


def measured(tree: Tree, suites: Sequence[str]) -> Measured:
    """Run suites in a tree, and return what they print."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [tree.python, "-m", "benchmarks", *suites, "--json"],
        cwd=tree.folder,
        env=inherited,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS * len(suites),
    )
    rows = rows_in(done.stdout)
    if not rows:
        raise RevisionError(f"{tree.commit} measured nothing: {done.stderr.strip()[-500:]}")
    return _read(rows)


def rows_in(text: str) -> list[Mapping[str, Any]]:
    """Return the rows that a suite printed, one JSON object a line. Raises RevisionError on any other line."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError as error:
        raise RevisionError(f"a line that a suite printed is no JSON: {error}") from error


def _read(rows: Sequence[Mapping[str, Any]]) -> Measured:
    found = Measured()
    for row in rows:
        title = f"{row['suite']}: {row['name']}"
        if "error" in row:
            found.errors[row["suite"]] = row["error"]
        elif "better" in row:
            found.values[title], found.better[title] = row["value"], row["better"]
        else:
            # Written before rows said their direction; the other side says it where it has the row.
            found.values[title] = row["value"]
    return found


def pairs_asked(text: str) -> int:
    """Return a number of pairs for the command line. Raises ValueError."""
    if (pairs := int(text)) < FEWEST_PAIRS:
        raise ValueError(f"{FEWEST_PAIRS} pairs at least")
    return pairs


def suites() -> list[str]:
    """Return the names of all suites: the modules and packages of this folder."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if module.name not in NOT_SUITES and not module.name.startswith("_"))


def documents(suite: str) -> Iterator[dict[str, Any]]:
    """Yield a suite's rows as they are measured; what raises is a last row that is not ok."""
    try:
        for row in import_module(f"benchmarks.{suite}").rows():
            yield row.document(suite)
    except Exception as error:  # noqa: BLE001 - whatever went wrong, this row could not be measured
        traceback.print_exc()
        empty = dict.fromkeys(("value", "unit", "baseline", "ratio", "target"))
        yield {"suite": suite, "name": "error", **empty, "ok": False, "error": f"{type(error).__name__}: {error}"}


def line(document: dict[str, Any]) -> str:
    """Return a row for a terminal."""
    if "error" in document:
        return f"ERROR  {document['suite']}: {document['error']}"
    ratio = f"{document['ratio']:.2f} x the baseline" if document["ratio"] is not None else ""
    target = f"target {document['target']:g}" if document["target"] is not None else ""
    state = "ok    " if document["ok"] else "NOT OK"
    title = f"{document['suite']}: {document['name']}"
    return f"{state} {title:<60} {document['value']:>14,.4g} {document['unit']:<14} {ratio:<24} {target}".rstrip()


def main() -> int:
    """Measure what was asked for."""
    if sys.argv[1:2] == [SIDE_BY_SIDE]:
        return side_by_side.main(sys.argv[2:])
    parser = _parser()
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(suites())
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    if arguments.sizes:
        os.environ["GROWTH_SIZES"] = arguments.sizes
    as_json = arguments.json or not sys.stdout.isatty()
    if arguments.compare is None:
        return _measure(arguments.suites or suites(), as_json=as_json)
    asked = arguments.suites or SUITES
    return compare(arguments.compare, asked, pairs=arguments.pairs, own_suites=arguments.own_suites, as_json=as_json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description="Measure, and print one row for each figure.",
        epilog=f"./dev bench {SIDE_BY_SIDE} measures other tools on the same inputs; it has its own --help.",
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"any of: {', '.join(suites())} (all)")
    parser.add_argument("--json", action="store_true", help="print JSON even on a terminal")
    parser.add_argument("--sizes", metavar="N,N", help="examples that growth measures, by commas (GROWTH_SIZES)")
    text = f"measure this commit in turns with the checkout (suites: {', '.join(SUITES)}); status 1 if slower"
    parser.add_argument("--compare", metavar="REV", help=text)
    parser.add_argument("--pairs", type=pairs_asked, default=PAIRS, help=f"of a comparison ({PAIRS})")
    parser.add_argument("--own-suites", action="store_true", help="measure REV by the suites that it holds")
    return parser


def _measure(asked: Sequence[str], *, as_json: bool) -> int:
    well = True
    for suite in asked:
        for document in documents(suite):
            well = well and document["ok"]
            print(json.dumps(document) if as_json else line(document), flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
