"""Every column of every file is described where the documents say so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.cases import table as cases
from reports.compare import table as comparison_tables
from reports.golds.queries import GOLDS
from reports.issues import table as issue_tables
from reports.recovery.table import EPISODES, FAILURES, FOLLOWED
from reports.reliability import table as reliability_tables
from reports.run import table as tables
from reports.trends.table import TRENDS
from toolevals.grading.engine.case_metrics import METRICS

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "tables.md").read_text()
FILES = {
    "matrix.csv": tables.CELLS.head,
    "tools.csv": tables.TOOLS.head,
    "arguments.csv": tables.ARGUMENTS.head,
    "overreach.csv": tables.OVERREACH.head,
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
    "<id>/cases.csv": issue_tables.CASE.head,
    "<id>/traces.csv": issue_tables.TRACE.head,
    "judged.csv": cases.JUDGED.head,
    "state.csv": cases.STATE.head,
    "remarks.csv": cases.REMARKS.head,
    "variance.csv": reliability_tables.VARIANCE.head,
    "readings.csv": tables.READINGS.head,
    "recorded.csv": tables.RECORDED.head,
    "golds.csv": GOLDS.head,
    "<candidate>/layers.csv": comparison_tables.LAYERS.head,
    "<candidate>/metrics.csv": comparison_tables.METRICS.head,
    "<candidate>/parameters.csv": comparison_tables.PARAMETERS.head,
    "<candidate>/spending.csv": comparison_tables.SPENDING.head,
    "<candidate>/matrix.csv": comparison_tables.MATRIX.head,
    "<candidate>/registry.csv": comparison_tables.REGISTRY.head,
}


@pytest.mark.parametrize("name", FILES)
def test_columns_are_described_in_order(name):
    section = DOCUMENT.partition(f"/{name}`")[2].partition("\n### ")[0].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", " ".join(cells))) == FILES[name]
