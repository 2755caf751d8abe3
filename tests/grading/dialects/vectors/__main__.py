"""Make the parity vectors of one dialect, in an environment that has its library.

    python -m tests.grading.dialects.vectors ragas

A file's first line names the library, its version, Python's version and the options; each line after it is a case
with one score for each of the options, or `{"error": ...}` with the exception's name.
"""

from __future__ import annotations

import copy
import gzip
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from tests.grading.dialects.vectors.originals import ORIGINALS, verdict

FOLDER = Path(__file__).parents[1] / "data"


def main(name: str) -> None:
    original = ORIGINALS[name]
    scorers = [original.scorer(options) for options in original.options]
    head = {
        "package": original.package,
        "version": version(original.package),
        "python": platform.python_version(),
        "options": original.options,
    }
    lines = [json.dumps(head)]
    for case in original.cases():
        # A deep copy each: some libraries write into what they are given.
        scores = [verdict(scorer, copy.deepcopy(case)) for scorer in scorers]
        lines.append(json.dumps({"expected": case.expected, "actual": case.actual, "scores": scores}))
    path = FOLDER / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))
    print(f"{path}: {len(lines) - 1} cases, {path.stat().st_size} bytes")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
