"""Count what is judged by layer: which layers of the stack have judges, and how many cases each."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.grading.judging.rubrics import RUBRIC_LAYERS
from toolevals.runs.models import Judge
from toolevals.workspace.models import Project


@dataclass(frozen=True, slots=True)
class JudgedLayer:
    """One layer that has judges: how many, and the shares of examples that those which are on are asked about."""

    name: str
    judges: int
    on: int
    least: float | None
    most: float | None


def layers_of(project: Project) -> list[JudgedLayer]:
    """Return the layers that have judges, in their order."""
    by_layer: dict[str, list[tuple[bool, float]]] = {}
    rows = Judge.objects.filter(project=project).values_list("rubric__layer", "is_on", "share")
    for name, is_on, share in rows:
        by_layer.setdefault(name, []).append((is_on, share))
    return [_layer(name, by_layer[name]) for name in RUBRIC_LAYERS if name in by_layer]


def _layer(name: str, judges: list[tuple[bool, float]]) -> JudgedLayer:
    shares = [share for is_on, share in judges if is_on]
    return JudgedLayer(name, len(judges), len(shares), min(shares, default=None), max(shares, default=None))
