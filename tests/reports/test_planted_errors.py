"""Errors planted in public golds rank before tasks that agents merely fail.

Of the tasks on which a recorded run speaks, a tenth get an error in their gold: another value, another id, a call added
or left out, another tool. docs/suspect-labels.md states the area under the ROC curve and the lift among the first ten
as means over the draws 0 to 19 of `measured`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean

import pytest

from reports.suspects.analysis import ModelOpinion, evidence_of, reasons_of, skilled
from tests.reports.recorded.golds import Domain, planted
from tests.reports.recorded.loading import FOLDER

pytestmark = pytest.mark.skipif(
    not (FOLDER / "gold_tau2_v0_airline.json.gz").exists(),
    reason="TOOLEVALS_BENCHMARK_DATA does not say where the recorded runs are",
)
FIRST = 10


def share(voices: Sequence[ModelOpinion]) -> float:
    """Return the share of agents that fail."""
    return mean(not voice.sides for voice in voices)


def skill_weighted(voices: Sequence[ModelOpinion]) -> float:
    """Return the same, each agent weighted by its skill."""
    return sum(voice.skill for voice in voices if not voice.sides) / sum(voice.skill for voice in voices)


def suspicion(voices: Sequence[ModelOpinion]) -> float:
    """Return what the product ranks by."""
    return evidence_of(reasons_of(voices))


WAYS: tuple[Callable[[Sequence[ModelOpinion]], float], ...] = (share, skill_weighted, suspicion)


def test_planted_errors_rank_before_other_failures():
    figures = measured(Domain("airline", FOLDER), range(2))
    for figure in ("AUROC", "lift of the first ten"):
        ours, plain = (sum(figures[figure, way.__name__]) for way in (suspicion, share))
        assert ours > plain


def measured(domain: Domain, draws: range) -> dict[tuple[str, str], list[float]]:
    """Return AUROC and lift of each way to rank, by draw."""
    heard = {name: domain.voices(task) for name, task in domain.tasks.items() if task.transcripts}
    found: dict[tuple[str, str], list[float]] = {}
    for seed in draws:
        wrong = planted(domain, seed)
        voices = heard | {name: domain.voices(task) for name, (task, _) in wrong.items()}
        skilled(voices.values())
        for way in WAYS:
            scores = {name: way(each) for name, each in voices.items()}
            right = [value for name, value in scores.items() if name not in wrong]
            found.setdefault(("AUROC", way.__name__), []).append(_auroc([scores[name] for name in wrong], right))
            first = sorted(scores, key=lambda name: (-scores[name], name))[:FIRST]
            lift = sum(name in wrong for name in first) / FIRST / (len(wrong) / len(scores))
            found.setdefault(("lift of the first ten", way.__name__), []).append(lift)
    return found


def _auroc(wrong: Sequence[float], right: Sequence[float]) -> float:
    pairs = [(one > other) + (one == other) / 2 for one in wrong for other in right]
    return sum(pairs) / len(pairs)
