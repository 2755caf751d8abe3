"""Tell how many people label an example: all that the project wants, or one, decided by the example's name alone.

The same name gives the same answer in every import, and a larger share takes in all that a smaller one did.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from toolevals.workspace.models import Project


@dataclass(frozen=True, slots=True)
class Overlap:
    """`wanted` labels for a `share` (0..1) of the examples, one label for the others."""

    wanted: int
    share: float

    @classmethod
    def of(cls, project: Project) -> Overlap:
        """Return what a project has set."""
        return cls(project.labels_wanted, project.labels_share)

    def labels_for(self, external_id: str, round_number: int = 1) -> int:
        """Return how many labels the example of this name gets; one that was reopened gets all."""
        return self.wanted if round_number > 1 or _place(external_id) < self.share else 1


def _place(external_id: str) -> float:
    """Return where a name stands between 0 and 1, evenly spread, 1 excluded."""
    digest = hashlib.sha256(external_id.encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
