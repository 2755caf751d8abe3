"""Tell what came of an export: how many examples were written, and which were not or lost something, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# So many are named; all are counted.
LISTED = 100


class Inexpressible(ValueError):  # noqa: N818 - nothing is wrong: the format has no words for it
    """An example that has no form in the format; the text is the reason."""


@dataclass(slots=True)
class Outcome:
    """Counts that grow while the export is written."""

    written: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    listed: list[dict[str, str]] = field(default_factory=list)

    def skip(self, external_id: str, reason: str) -> None:
        """Note that an example was left out."""
        self.skipped[reason] += 1
        if len(self.listed) < LISTED:
            self.listed.append({"id": external_id, "reason": reason})

    def note(self, reason: str) -> None:
        """Note that an example was written and lost something."""
        self.notes[reason] += 1

    def to_document(self) -> dict[str, Any]:
        """Return counts by reason, and the first examples left out."""
        return {
            "written": self.written,
            "skipped": self.skipped.total(),
            "skipped_by_reason": dict(self.skipped.most_common()),
            "notes": dict(self.notes.most_common()),
            "skipped_examples": self.listed,
        }
