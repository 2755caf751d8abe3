"""What many predictions were read from: their formats and the parts that were left out, counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from toolevals.grading.parsing import Loss, Tally
from toolevals.grading.predictions import Prediction


@dataclass(frozen=True, slots=True)
class FoundFormat:
    """A format that messages were found in: its name, why (of the first ones), and how many predictions are in it."""

    name: str
    why: str
    count: int


@dataclass(slots=True)
class Readings:
    """Counts predictions by format, and losses by kind and place."""

    _formats: dict[str, FoundFormat] = field(default_factory=dict)
    _tally: Tally = field(default_factory=Tally)

    def add(self, prediction: Prediction) -> None:
        """Count a prediction."""
        if prediction.format:
            self._add(FoundFormat(prediction.format, prediction.why, 1))
        self._tally.add(prediction.losses)

    def join(self, later: Readings) -> None:
        """Count what was read later."""
        for found in later._formats.values():
            self._add(found)
        self._tally.add(later.losses)

    def _add(self, found: FoundFormat) -> None:
        before = self._formats.get(found.name)
        self._formats[found.name] = found if before is None else replace(before, count=before.count + found.count)

    def __bool__(self) -> bool:
        return bool(self._formats or self._tally.losses)

    @property
    def formats(self) -> tuple[FoundFormat, ...]:
        """The formats, the most frequent first."""
        return tuple(sorted(self._formats.values(), key=lambda found: (-found.count, found.name)))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Every kind of loss: unknown ones first."""
        return self._tally.losses

    def words(self) -> Iterator[str]:
        """Yield a line for each format and each kind of loss."""
        for found in self.formats:
            yield f"messages: {found.count:,} read as {found.name}: {found.why}"
        for loss in self.losses:
            yield f"left out: {loss} (first at {loss.first})"

    def to_document(self) -> dict[str, Any]:
        """Return `{"formats": [...], "losses": [...]}`."""
        return {
            "formats": [{"name": each.name, "why": each.why, "count": each.count} for each in self.formats],
            "losses": [loss.to_document() for loss in self.losses],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return what `to_document` wrote."""
        made = cls({each["name"]: FoundFormat(**each) for each in document["formats"]})
        made._tally.add(map(Loss.from_document, document["losses"]))
        return made
