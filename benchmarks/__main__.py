"""Run suites and print their rows: `python -m benchmarks [SUITE...] [--json]`. Exit status 1 if a row is not ok."""

from __future__ import annotations

import argparse
import json
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

NOT_SUITES = {"__main__", "row"}


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
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure, and print one row for each figure.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"any of: {', '.join(suites())} (all)")
    parser.add_argument("--json", action="store_true", help="print JSON even on a terminal")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(suites())
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    as_json = arguments.json or not sys.stdout.isatty()
    well = True
    for suite in arguments.suites or suites():
        for document in documents(suite):
            well = well and document["ok"]
            print(json.dumps(document) if as_json else line(document), flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
