"""Measures gates: `toolevals gate` on a file of rows to grade, without a server, with another file as baseline.

`GATE_ROWS` is another number of rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.row import Row
from scripts.dev.environment import ROOT

ROWS = int(os.environ.get("GATE_ROWS", "100000"))
TRIALS, TOOLS = 5, 200
# Rows a second of processor time, both files counted.
TARGET = 10_000


def rows() -> Iterator[Row]:
    """Measure. Raises RuntimeError where the gate is not decided."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        files = [_written(Path(folder) / f"{number}.jsonl", number) for number in (1, 2)]
        baseline = _seconds([sys.executable, "-c", _READ, *files])
        command = [sys.executable, "-m", "toolevals.cli.main", "gate", files[1], "--baseline", files[0]]
        seconds = _seconds([*command, "--fail-on-regression"], allowed=(0, 2))
    both = 2 * ROWS
    yield Row("file and baseline, rows to be graded", both / seconds, "rows/s", baseline=both / baseline, target=TARGET)


# The simplest that could serve: the lines as JSON, and nothing else.
_READ = "import json, sys; [sum(1 for line in open(name) if json.loads(line)) for name in sys.argv[1:]]"


def _seconds(command: list[str], allowed: tuple[int, ...] = (0,)) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    if result.returncode not in allowed:
        raise RuntimeError(f"{command[1:4]} ended with {result.returncode}")
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _written(path: Path, seed: int) -> str:
    random = Random(seed)
    with path.open("w") as file:
        for place in range(ROWS):
            is_right = random.random() < 0.85
            tool, other = f"tool_{place // TRIALS % TOOLS:03}", f"tool_{random.randrange(TOOLS):03}"
            made = {"name": tool if is_right else other, "arguments": {"order_id": f"ORD-{place}"}}
            wanted = {"expected_tool": tool, "expected_args": {"order_id": f"ORD-{place}"}}
            row = {
                "id": f"ex-{place // TRIALS:06}",
                "trial": place % TRIALS,
                "input": {"messages": [{"role": "user", "content": f"Please see to request number {place}."}]},
                **wanted,
                "tool_calls": [made],
            }
            file.write(json.dumps(row) + "\n")
    return str(path)
