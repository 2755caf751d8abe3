"""Define the tables of suspect labels; docs/tables.md describes the columns of the file, which has a row a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from reports.suspects.analysis import REASONS
from reports.suspects.queries import STATES, row_of
from toolevals.json_types import JsonObject
from toolevals.presentation.table import Column, Table, beneath

_WHOSE: Final = (
    Column("rank", int),
    Column("example_id", UUID),
    Column("revision_id", UUID),
    Column("external_id"),
    Column("score", float),
    Column("state", tuple(STATES)),
)
_WEIGHT: Final = (
    Column("evidence", float),
    *(Column(name, int) for name in ("against", "sided", "voices")),
    Column("sentence"),
)
_WITNESS: Final = Table(
    "Witness",
    "A case that a reason can be read in.",
    (Column("agent"), Column("run", int), Column("case", UUID)),
)
_TWIN: Final = Table(
    "Twin", "Another example that says the same.", (Column("revision_id", UUID), Column("external_id"))
)
REASON: Final = Table(
    "SuspectReason",
    "The reason why gold is suspected: its evidence (a log-likelihood ratio), `against` and `sided` of `voices`.",
    (
        Column("kind", tuple(REASONS)),
        *_WEIGHT,
        Column("witnesses", _WITNESS, many="list"),
        Column("examples", _TWIN, many="list"),
    ),
)
SUSPECT: Final = Table(
    "Suspect",
    """An example whose gold the evidence contradicts; dispute it by its `example_id`.

    `says` is the last request, `gold` the expected tools, in a line each.
    """,
    (
        *_WHOSE,
        Column("says"),
        Column("gold"),
        Column(
            "trace",
            UUID,
            words="The trace that the example came from, if the reader may see it.",
            optional=True,
            read_only=True,
        ),
        Column("reasons", REASON, many="list"),
    ),
)
PAGE: Final = Table(
    "Suspects",
    "One page of a version's suspects. `counted_at` is null, and `job` counts, until they are counted once.",
    (
        Column("counted_at", datetime, optional=True),
        Column("job", UUID, optional=True),
        *(Column(name, int) for name in ("voices", "count", "pages")),
        Column("results", SUSPECT, many="list"),
    ),
)
SUSPECTS: Final = Table(
    "SuspectRow",
    "One reason of one suspect.",
    (
        *beneath("row", _WHOSE),
        Column("reason", str, "reason.kind"),
        *beneath("reason", _WEIGHT),
        *(Column(name) for name in ("agents", "runs", "case_ids", "twin_revision_ids")),
    ),
)


def reasons_of_each(suspects: Any) -> Iterator[JsonObject]:
    """Yield each reason of each suspect, in the order of the list."""
    for rank, suspect in enumerate(suspects.iterator(chunk_size=500), 1):
        row = row_of(suspect, rank)
        for reason in row.reasons:
            seen = {name: _words(reason["witnesses"], name) for name in ("agent", "run", "case")}
            yield {
                "row": row,
                "reason": reason,
                "agents": seen["agent"],
                "runs": seen["run"],
                "case_ids": seen["case"],
                "twin_revision_ids": _words(reason["examples"], "revision_id"),
            }


def _words(items: Iterable[JsonObject], name: str) -> str:
    return " ".join(str(item[name]) for item in items)
