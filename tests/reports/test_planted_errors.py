"""Errors planted in public golds rank before tasks that agents merely fail."""

from __future__ import annotations

import pytest

from benchmarks import suspects
from benchmarks._recorded_golds import Domain
from tests.reports.recorded.loading import FOLDER

pytestmark = pytest.mark.skipif(
    not (FOLDER / "gold_tau2_v0_airline.json.gz").exists(),
    reason="TOOLEVALS_BENCHMARK_DATA does not say where the recorded runs are",
)


def test_planted_errors_rank_before_other_failures():
    """Two draws of the measurement of docs/suspect-labels.md: better than the share of agents that fail."""
    domain = Domain("airline", FOLDER)
    figures = suspects.measured(domain, range(2))
    for figure in ("AUROC", "lift of the first ten"):
        ours, share = (sum(figures[figure, way.__name__]) for way in (suspects.suspicion, suspects.share))
        assert ours > share
