"""Tell what a gate would have said of the newest runs, as a table of rules by runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reports.gates.page import CHECKS_CSV, STATUS_WORDS, CheckRow, check_rows, checks_csv
from reports.models import GatePreview, HeldGate
from toolevals.presentation.csv import Cell
from toolevals.presentation.gate_reports import ORDER

# Rules by tool or by stratum can be many; the file holds all.
MOST_RULES: Final = 200
PREVIEW_CSV: Final = ("run", *CHECKS_CSV)


@dataclass(frozen=True, slots=True)
class PreviewCell:
    """A check of one run; `row` is None where the gate had no such check for it."""

    held: HeldGate
    row: CheckRow | None


@dataclass(frozen=True, slots=True)
class PreviewRule:
    """A rule with its check of each run."""

    name: str
    bound: str
    cells: tuple[PreviewCell, ...]


@dataclass(frozen=True, slots=True)
class PreviewTable:
    """The runs of a preview, the newest first, and the rules, those first that kept most runs from passing."""

    runs: tuple[HeldGate, ...]
    rules: tuple[PreviewRule, ...]
    rule_count: int

    @property
    def sentence(self) -> str:
        """Return how the runs would have come out."""
        counts = Counter(held.status for held in self.runs)
        parts = [f"{counts[status]} {words}" for status, words in STATUS_WORDS.items() if counts[status]]
        runs = f"Of the last {len(self.runs)} runs" if len(self.runs) > 1 else "Of the one run"
        return f"{runs}: {', '.join(parts)}."


def preview_table(preview: GatePreview) -> PreviewTable:
    """Return what is decided of a preview so far. One query."""
    held = tuple(preview_runs(preview))
    found = {
        each.pk: {row.check.name: row for row in check_rows(each.outcome)} if each.outcome else {} for each in held
    }
    names = dict.fromkeys(name for rows in found.values() for name in rows)
    rules = []
    for name in names:
        cells = tuple(PreviewCell(each, found[each.pk].get(name)) for each in held)
        bound = next(cell.row.check.bound for cell in cells if cell.row)
        rules.append(PreviewRule(name, bound, cells))
    rules.sort(key=_worst_first)
    return PreviewTable(held, tuple(rules[:MOST_RULES]), len(rules))


def preview_runs(preview: GatePreview) -> Iterator[HeldGate]:
    """Yield the results of a preview, the newest run first."""
    yield from HeldGate.objects.shown_in(preview.project).filter(preview=preview).order_by("-run__number")


def preview_csv(preview: GatePreview) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each check of each run that is decided."""
    for held in preview_runs(preview):
        if held.outcome:
            yield from ((held.run.number, *row) for row in checks_csv(held, held.outcome))


def _worst_first(rule: PreviewRule) -> tuple[int, ...]:
    counts = Counter(cell.row.check.status for cell in rule.cells if cell.row)
    return tuple(-counts[status] for status in ORDER)
