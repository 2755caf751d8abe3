"""Every column of every file is described where the documents say so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.tables import cases
from reports.tables import mistakes as mistake_tables
from reports.tables import reliability as reliability_tables
from reports.tables import run as tables
from reports.tables.recovery import EPISODES, FAILURES, FOLLOWED
from reports.tables.trends import TRENDS
from toolevals.grading.engine.case_metrics import METRICS

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "tables.md").read_text()
FILES = {
    "matrix.csv": tables.CELLS.head,
    "tools.csv": tables.TOOLS.head,
    "arguments.csv": mistake_tables.ARGUMENTS.head,
    "overreach.csv": mistake_tables.OVERREACH.head,
    "layers.csv": tables.LAYERS.head,
    "metrics.csv": tables.METRIC_MEANS.head,
    "proxies.csv": tables.PROXIES.head,
    "<number>/cases.csv": (*cases.CASES.head, *METRICS, *cases.TEXTS.head),
    "reliability.csv": reliability_tables.RELIABILITY.head,
    "trials.csv": reliability_tables.TRIALS.head,
    "steps.csv": reliability_tables.STEPS.head,
    "recovery.csv": FAILURES.head,
    "reactions.csv": FOLLOWED.head,
    "episodes.csv": EPISODES.head,
    "baseline-agents.csv": tables.BASELINE_AGENTS.head,
    "trends.csv": TRENDS.head,
}


@pytest.mark.parametrize("name", FILES)
def test_columns_are_described_in_order(name):
    section = DOCUMENT.partition(f"/{name}`")[2].partition("\n### ")[0].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", " ".join(cells))) == FILES[name]
