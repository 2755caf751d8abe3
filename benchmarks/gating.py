"""Measures rows of files that are graded without a server: `toolevals gate` with another file as baseline, and `grade`.

`--size` is another number of rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks._measuring import size
from benchmarks.row import Row
from scripts.dev.environment import ROOT

ROWS = size(100_000)
TRIALS, TOOLS = 5, 200
# Rows a second of processor time: 30,000 on two cores that never wait.
TARGET = 15_000


def rows() -> Iterator[Row]:
    """Measure. Raises RuntimeError where a command fails."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        for kind, expects_the_same in (("each row expects its own", False), ("trials expect the same", True)):
            file, other = (_written(Path(folder) / f"{seed}.jsonl", seed, expects_the_same) for seed in (1, 2))
            read = _seconds([sys.executable, "-c", _READ, file, other]) / 2 / ROWS
            gate = _seconds([*_TOOLEVALS, "gate", other, "--baseline", file, "--fail-on-regression"], allowed=(0, 2))
            grade = _seconds([*_TOOLEVALS, "grade", file, "--output", f"{folder}/graded.jsonl"])
            for name, seconds in (("gate, file and baseline", gate / 2 / ROWS), ("grade, a file", grade / ROWS)):
                yield Row(f"{name}: {kind}", 1 / seconds, "rows/s", baseline=1 / read, target=TARGET)


_TOOLEVALS = (sys.executable, "-m", "toolevals.cli.main")
# The simplest that could serve: the lines as JSON, and nothing else.
_READ = "import json, sys; [sum(1 for line in open(name) if json.loads(line)) for name in sys.argv[1:]]"


def _seconds(command: list[str], allowed: tuple[int, ...] = (0,)) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    if result.returncode not in allowed:
        raise RuntimeError(f"{command[1:4]} ended with {result.returncode}")
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _written(path: Path, seed: int, expects_the_same: bool) -> str:
    random = Random(seed)
    with path.open("w") as file:
        for place in range(ROWS):
            example, is_right = place // TRIALS, random.random() < 0.85
            tool, other = f"tool_{example % TOOLS:03}", f"tool_{random.randrange(TOOLS):03}"
            number = example if expects_the_same else place
            made = {"name": tool if is_right else other, "arguments": {"order_id": f"ORD-{number}"}}
            wanted = {"expected_tool": tool, "expected_args": {"order_id": f"ORD-{number}"}}
            row = {
                "id": f"ex-{example:06}",
                "trial": place % TRIALS,
                "input": {"messages": [{"role": "user", "content": f"Please see to request number {number}."}]},
                **wanted,
                "tool_calls": [made],
            }
            file.write(json.dumps(row) + "\n")
    return str(path)
