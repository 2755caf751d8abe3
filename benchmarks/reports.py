"""Reports: pages and files of a grading of 100,000 cases over 200 tools, on SQLite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.row import Row
from scripts.dev.environment import ROOT

# Milliseconds that somebody who clicks does not notice as waiting.
PAGE = 300
# Rows a second: a million in under a minute.
CSV = 17_000


def rows() -> Iterator[Row]:
    """Measure in an installation of its own. Raises CalledProcessError if it breaks."""
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        own = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": folder, "TOOLEVALS_DEBUG": ""}
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks._reports_measure"],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | own,
            check=True,
            stdout=subprocess.PIPE,
        )
    found = json.loads(result.stdout)
    raw, raw_csv = found.pop("raw GROUP BY"), found.pop("raw CSV")
    yield Row("cases CSV", found.pop("cases CSV"), "rows/s", baseline=raw_csv, target=CSV)
    for name, value in found.items():
        yield Row(f"{name}, p95", value, "ms", baseline=raw, target=PAGE, better="lower")
