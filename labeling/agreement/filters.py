"""Tell which labels are compared, as it stands in the address."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from urllib.parse import urlencode
from uuid import UUID

from labeling.models import Example
from toolevals.workspace.requests import read_id, whole_number

LONGEST = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """The labels to compare; a field that is None or missing filters nothing.

    `since` and `until` are days of a unit's last label, both included. `guideline`: labels under that version only.
    `reviewer`: what this person labelled; with `other`, the labels of these two alone. `elsewhere`: labels that were
    given elsewhere count, too, of which no one knows if they were given blind.
    """

    strata: Mapping[str, str] = field(default_factory=dict)
    since: date | None = None
    until: date | None = None
    guideline: int | None = None
    reviewer: UUID | None = None
    other: UUID | None = None
    elsewhere: bool = False

    @classmethod
    def of_address(cls, query: Mapping[str, str], *, names: bool) -> Filters:
        """Return what an address says; what makes no sense counts as not said. `names`: people may be chosen."""
        guideline = query.get("guideline", "")
        reviewer, other = (read_id(query.get(name, "")) if names else None for name in ("reviewer", "other"))
        return cls(
            strata={name: value for name in Example.STRATA if (value := text(query, name))},
            since=_day(query.get("since", "")),
            until=_day(query.get("until", "")),
            guideline=whole_number(guideline),
            reviewer=reviewer,
            other=other if reviewer and other != reviewer else None,
            elsewhere=query.get("elsewhere") == "1",
        )

    @property
    def is_pair(self) -> bool:
        return self.other is not None

    @property
    def parameters(self) -> dict[str, str]:
        """Return what an address says of it."""
        said = {name: getattr(self, name) for name in ("since", "until", "guideline", "reviewer", "other")}
        elsewhere = {"elsewhere": "1"} if self.elsewhere else {}
        return {**self.strata, **{name: str(value) for name, value in said.items() if value is not None}, **elsewhere}

    @property
    def key(self) -> str:
        """The filters as a digest."""
        return hashlib.sha256(urlencode(sorted(self.parameters.items())).encode()).hexdigest()

    def query(self, **more: str | int | None) -> str:
        """Return the query of an address with these filters and more."""
        others = {name: value for name, value in more.items() if value not in (None, "")}
        return urlencode({**self.parameters, **others})

    def between(self, since: date, until: date) -> Filters:
        """Return the filters of a part of the time."""
        return replace(self, since=since, until=until)


def text(query: Mapping[str, str], name: str) -> str:
    """Return a parameter's text; "" where it is absent or cannot be a value in the database."""
    value = query.get(name, "")
    return "" if "\0" in value else value[:LONGEST]


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
