"""Measures suspect labels: how well errors planted in public golds rank, next to the share of agents that fail.

Needs `TOOLEVALS_BENCHMARK_DATA`. Of the tasks on which a recorded run speaks, a tenth get an error in their gold:
another value, another id, a call added or left out, another tool. The area under the ROC curve and the lift among the
first ten are means over draws, with the range that holds 95 % of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, quantiles
from typing import TYPE_CHECKING

import django

from benchmarks.row import Row
from reports.analyses.agent_evidence import Voice, skilled
from reports.analyses.suspicion import evidence_of, reasons_of

if TYPE_CHECKING:
    from benchmarks._recorded_golds import Domain

DRAWS = 20
FIRST = 10


def share(voices: Sequence[Voice]) -> float:
    """Return the share of agents that fail."""
    return mean(not voice.sides for voice in voices)


def skill_weighted(voices: Sequence[Voice]) -> float:
    """Return the same, each agent weighted by its skill."""
    return sum(voice.skill for voice in voices if not voice.sides) / sum(voice.skill for voice in voices)


def suspicion(voices: Sequence[Voice]) -> float:
    """Return what the product ranks by."""
    return evidence_of(reasons_of(voices))


def rows() -> Iterator[Row]:
    """Measure on the recorded runs of two domains. Raises KeyError without the data."""
    folder = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    from benchmarks._recorded_golds import Domain  # needs Django's apps

    for name in ("airline", "retail"):
        figures = measured(Domain(name, folder), range(DRAWS))
        for what in ("AUROC", "lift of the first ten"):
            best = max(mean(figures[what, way.__name__]) for way in (share, skill_weighted))
            values = figures[what, suspicion.__name__]
            ends = quantiles(values, n=40)
            unit = f"{ends[0]:.2f} to {ends[-1]:.2f}"
            yield Row(f"{name}: {what} of planted errors", mean(values), unit, best, best)


def measured(domain: Domain, draws: range) -> dict[tuple[str, str], list[float]]:
    """Return AUROC and lift of each way to rank, by draw."""
    from benchmarks._recorded_golds import planted  # needs Django's apps

    heard = {name: domain.voices(task) for name, task in domain.tasks.items() if task.transcripts}
    found: dict[tuple[str, str], list[float]] = {}
    ways: tuple[Callable[[Sequence[Voice]], float], ...] = (share, skill_weighted, suspicion)
    for seed in draws:
        wrong = planted(domain, seed)
        voices = heard | {name: domain.voices(task) for name, (task, _) in wrong.items()}
        skilled(voices.values())
        for way in ways:
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
