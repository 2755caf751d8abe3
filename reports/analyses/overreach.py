"""Work out what calls to the wrong tool cost and give away: over-tooling, and personal data that no one needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from reports.analyses.costs import Cell
from toolevals.grading.alignment.pair_kinds import pair_kind
from toolevals.grading.metrics.classes import SPECIAL
from toolevals.grading.values import ToolSpec

OVER_TOOLING = "over-tooling"
NEEDLESS = "needless call"


@dataclass(frozen=True, slots=True)
class OverreachRow:
    """One cell of the matrix of aligned calls whose called tool does more than was expected.

    `kind` is OVER_TOOLING, or NEEDLESS where no call was expected; `why` are the words of the specs. `exposed` are the
    JSON pointers of personal data in the called tool's output that the right tool does not give out. `extra` is what a
    call costs more than the right one, relative to the other tools; None where the specs do not say.
    """

    expected: str
    actual: str
    count: int
    kind: str
    why: str
    exposed: tuple[str, ...]
    extra: Decimal | None

    @property
    def extra_in_all(self) -> Decimal | None:
        """Return what all calls of the cell cost more."""
        return None if self.extra is None else self.extra * self.count


@dataclass(frozen=True, slots=True)
class Overreach:
    """Every such cell, most calls first; what their calls cost more and how many of them gave out personal data.

    `let_be` calls are left out: no one expected them, and the gold lets them come next to the expected ones.
    """

    rows: tuple[OverreachRow, ...]
    let_be: int = 0

    @property
    def calls(self) -> int:
        return sum(row.count for row in self.rows)

    @property
    def exposing(self) -> int:
        return sum(row.count for row in self.rows if row.exposed)

    @property
    def extra(self) -> Decimal | None:
        """The sum of what is said; None where no spec says anything."""
        said = [extra for row in self.rows if (extra := row.extra_in_all) is not None]
        return sum(said, Decimal(0)) if said else None


def overreach_of(
    counts: Mapping[Cell, int], specs: Mapping[str, Sequence[ToolSpec]], let_be: Mapping[Cell, int] | None = None
) -> Overreach:
    """Return the cells of a matrix in which there are excess calls.

    `counts` are of aligned calls, `specs` the offered specs by name. Where examples offer a name in several wordings,
    a cell counts if any two of them make it one, and what it gives away is what the first such two say. `let_be` are
    those of `counts` that the gold lets come next to the expected calls.
    """
    spared = let_be or {}
    rows = [
        row
        for (expected, actual), whole in counts.items()
        if expected != actual
        and (count := whole - spared.get((expected, actual), 0))
        and (row := _row(expected, actual, count, specs)) is not None
    ]
    rows.sort(key=lambda row: (-row.count, row.expected, row.actual))
    return Overreach(tuple(rows), sum(spared.values()))


def _row(expected: str, actual: str, count: int, specs: Mapping[str, Sequence[ToolSpec]]) -> OverreachRow | None:
    called = specs.get(actual, ())
    if expected == SPECIAL[0]:
        return next((_needless(spec, expected, count) for spec in called), None)
    pairs = ((right, wrong) for right in specs.get(expected, ()) for wrong in called)
    return next((row for right, wrong in pairs if (row := _overtooled(right, wrong, count)) is not None), None)


def _needless(called: ToolSpec, expected: str, count: int) -> OverreachRow:
    extra = None if called.cost is None else Decimal(str(called.cost))
    return OverreachRow(expected, called.name, count, NEEDLESS, "", _fields(called.sensitive_output), extra)


def _overtooled(right: ToolSpec, called: ToolSpec, count: int) -> OverreachRow | None:
    kind = pair_kind(right, called)
    if kind.name != OVER_TOOLING:
        return None
    exposed = _fields(field for field in called.sensitive_output if field not in right.sensitive_output)
    said = right.cost is not None and called.cost is not None
    extra = Decimal(str(called.cost)) - Decimal(str(right.cost)) if said else None
    return OverreachRow(right.name, called.name, count, kind.name, kind.why, exposed, extra)


def _fields(pointers: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(pointers))
