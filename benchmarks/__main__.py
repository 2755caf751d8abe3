"""Run suites and print their rows: `python -m benchmarks [SUITE...] [--json]`. Exit status 1 if a row is not ok.

`--compare REV` measures another commit next to this checkout, in turns, and says what became slower beyond the noise.
`side-by-side` measures other tools.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import side_by_side
from benchmarks._compare import compare, pairs_asked
from benchmarks._measuring import DATABASE, DATABASES, MINUTES, SIZE

# Of a comparison that names none: those that take seconds.
SUITES = ("grading",)
PAIRS = 8
NOT_SUITES = {"__main__", "row", "peers", "side_by_side"}
SIDE_BY_SIDE = "side-by-side"
# Takes an hour, and is measured where it is named.
SOAK = "soak"


def suites() -> list[str]:
    """Return the names of all suites: the modules of this folder."""
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
    given = {SIZE: arguments.size, DATABASE: arguments.database, MINUTES: arguments.minutes}
    os.environ |= {name: str(value) for name, value in given.items() if value}
    as_json = arguments.json or not sys.stdout.isatty()
    if arguments.compare is None:
        return _measure(arguments.suites or [name for name in suites() if name != SOAK], as_json=as_json)
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
    text = "examples, rows, cases or spans of a suite that has a size, in place of its own"
    parser.add_argument("--size", type=int, metavar="N", help=text)
    parser.add_argument("--minutes", type=float, metavar="N", help="of the soak, in place of an hour")
    parser.add_argument("--database", choices=DATABASES, help="one of the two that suites measure on")
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
    # Rows alone go to standard output; what servers and workers say, to standard error.
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.exit(main())
