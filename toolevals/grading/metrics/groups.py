"""Groups metrics that a team reads as one figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import Any, Literal

from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to

Aggregate = Literal["mean", "minimum", "maximum"]


@dataclass(frozen=True, slots=True)
class GroupValue:
    """A group's figure, None where none of its metrics has one, and which of them had one and which had not."""

    value: float | None
    scored: tuple[str, ...]
    unscored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricGroup:
    """Metrics by name and how they become one: their weighted mean Σ w·x/Σ w, the least or the greatest of them.

    A metric without a weight weighs 1. Weights matter to the mean alone.
    """

    name: str
    metrics: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    aggregate: Aggregate = "mean"

    def value(self, figures: Mapping[str, float | None]) -> GroupValue:
        """Return the group's figure from its metrics' figures.

        A metric that is missing, None or not finite is unscored: it is left out, and the weights of the others share
        its place. With none left the group is unscored.
        """
        known = {
            metric: figure
            for metric in self.metrics
            if (figure := figures.get(metric)) is not None and isfinite(figure)
        }
        unscored = tuple(metric for metric in self.metrics if metric not in known)
        return GroupValue(self._aggregated(known) if known else None, tuple(known), unscored)

    def _aggregated(self, known: Mapping[str, float]) -> float:
        if self.aggregate == "minimum":
            return min(known.values())
        if self.aggregate == "maximum":
            return max(known.values())
        whole = fsum(self.weights.get(metric, 1.0) for metric in known)
        return fsum(self.weights.get(metric, 1.0) * figure for metric, figure in known.items()) / whole


def read_group(document: Any) -> MetricGroup:
    """Return the group that a document (see `schemas/metric_group.v1.json`) describes.

    Raises InvalidDocument with every problem by JSON pointer.
    """
    require_valid(document, "metric_group")
    weights = document.get("weights", {})
    problems = [
        Problem(pointer_to(["weights", metric]), "is none of the group's metrics")
        for metric in weights
        if metric not in document["metrics"]
    ]
    if weights and document.get("aggregate", "mean") != "mean":
        problems.append(Problem("/weights", "matter to the mean alone: leave them out"))
    if problems:
        raise InvalidDocument(problems)
    return MetricGroup(document["name"], tuple(document["metrics"]), weights, document.get("aggregate", "mean"))
