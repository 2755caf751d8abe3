"""Defines one measured figure, next to a baseline measured in the same run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Row:
    """`value` in `unit`; `baseline` is the simplest thing that could serve, measured here and now in the same unit.

    `target` is what `value` should reach for two cores of a current server, None where none was set; `better` says in
    which direction.
    """

    name: str
    value: float
    unit: str
    baseline: float | None = None
    target: float | None = None
    better: Literal["higher", "lower"] = "higher"

    @property
    def ratio(self) -> float | None:
        """Return how many times better than the baseline; below 1 is worse."""
        if not self.baseline or not self.value:
            return None
        return self.value / self.baseline if self.better == "higher" else self.baseline / self.value

    @property
    def ok(self) -> bool:
        """Return whether the target, if any, is reached."""
        if self.target is None:
            return True
        return self.value >= self.target if self.better == "higher" else self.value <= self.target

    def document(self, suite: str) -> dict[str, Any]:
        """Return the row as it is printed."""
        fields = asdict(self)
        order = {"suite": suite, **{name: fields[name] for name in ("name", "value", "unit", "baseline")}}
        return order | {"ratio": self.ratio, "target": self.target, "better": self.better, "ok": self.ok}
