"""Define the table of a week; docs/tables.md describes the columns of its file."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from reports.digest.queries import SECTIONS
from toolevals.presentation.table import Column, Table

LINE: Final = Table(
    "DigestLine",
    "One thing that a week brought, and the address at which it is seen.",
    (
        Column("section", tuple(SECTIONS)),
        Column("words"),
        Column("address", words="A path below the address of the server."),
        Column("at", datetime, optional=True),
        Column("count", int, words="What the share is of, or how many there are.", optional=True),
        *(
            Column(name, float, optional=True)
            for name in (
                "value", "low", "high", "before", "difference", "difference_low", "difference_high", "p_value",
            )
        ),
        Column("change", words="better, worse, same or unclear; empty if nothing was compared."),
        Column("against", words="The path of the comparison."),
    ),
)  # fmt: skip
