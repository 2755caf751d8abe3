"""Define the tables of other evaluators' verdicts; docs/tables.md describes their columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.dialects.analysis import Dialects
from reports.dialects.queries import IDS
from reports.rates import RATED
from toolevals.json_types import JsonObject
from toolevals.presentation.table import RATE, Column, Table, beneath, in_file

_KAPPA: Final = Table(
    "Kappa",
    "Cohen's kappa with its 95 % interval; null, with the reason, where it is undefined.",
    (
        Column("value", float, optional=True),
        Column("low", float, "interval.low", optional=True, may_lack=True),
        Column("high", float, "interval.high", optional=True, may_lack=True),
        Column("reason"),
    ),
    (("", "value"), ("_low", "interval.low"), ("_high", "interval.high")),
)
_BESIDE: Final = (
    Column("both_scored", int, "agreement.total", only="file"),
    Column("agree", int, "agreement.passed", only="file"),
    Column("agreement", RATE),
    Column("kappa", _KAPPA),
)
_COLUMN: Final = Table(
    "DialectColumn",
    "The tool, its version and its options.",
    (
        *(Column(name) for name in ("dialect", "package", "version", "metric")),
        Column("options", dict),
        Column("looks_at"),
    ),
)
DIALECTS: Final = Table(
    "DialectTool",
    "The verdicts of one tool on the cases; `column` is null of ours. A tool passes what it gives its full score.",
    (
        Column("tool", str, "key", only="file"),
        *(Column(name, str, f"column.{name}", only="file") for name in ("package", "version", "metric")),
        Column("options", only="file"),
        Column("key", only="answer"),
        Column("column", _COLUMN, optional=True, only="answer"),
        *RATED,
        Column("mean", float, optional=True),
        *in_file(beneath("beside_ours", _BESIDE)),
    ),
)
_WHY: Final = (
    Column("sentence"),
    Column("rule_of"),
    Column("one_passes", int),
    Column("other_passes", int),
)
_REASON: Final = Table(
    "DialectReason",
    "The reason why two tools differ: whose rule it is, and on how many cases each of them passes.",
    (Column("name"), *_WHY),
)
REASONS: Final = Table(
    "DialectPairReason",
    "A reason why two tools differ, as a row of the file.",
    (
        Column("one", str, "pair.one"),
        Column("other", str, "pair.other"),
        Column("reason", str, "row.name"),
        *beneath("row", (*_WHY[1:], _WHY[0])),
    ),
)
PAIRS: Final = Table(
    "DialectPair",
    "Two tools over the cases that both scored.",
    (
        Column("one"),
        Column("other"),
        *_BESIDE,
        Column("reasons", _REASON, many="list", only="answer"),
    ),
)
CASES: Final = (*IDS, "tool", "status", "score", "reason", "said")


def reasons_of(shown: Dialects) -> Iterator[JsonObject]:
    """Return every two tools and each reason for which they differ."""
    return ({"pair": pair, "row": row} for pair in shown.pairs for row in pair.reasons)
