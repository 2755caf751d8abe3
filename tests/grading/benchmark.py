"""Test where the real benchmark data are, if anywhere: the environment variable TOOLEVALS_BENCHMARK_DATA."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parent / "data" / "bfcl" / "oracle_sample.jsonl"
_FOLDER = os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")

needs_benchmark = pytest.mark.skipif(
    not _FOLDER, reason="TOOLEVALS_BENCHMARK_DATA is not set: the benchmark's data are not here"
)


def benchmark_rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON Lines in the benchmark's folder, plain or .gz."""
    path = Path(_FOLDER) / "bfcl" / name
    content = path.read_bytes()
    for line in (gzip.decompress(content) if name.endswith(".gz") else content).splitlines():
        yield json.loads(line)
