"""Count against quotas: the table of tools, the examples behind a cell, and what to add next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q

from labeling.blindness import is_resolved
from labeling.coverage.counting import Counts, ToolCounts, is_tool
from labeling.coverage.quotas import BUCKETS, CLASSES, DIFFICULTIES, EDGE_CASES, ERRORS, spellings_of, wanted_shares
from labeling.examples.models import ExampleQuerySet
from labeling.models import GoldTool, Resolution, ToolPart
from toolevals.json_types import JsonMapping

# What a tool needs beside edge cases and errors: calls of it, no call though it comes near, reactions to its errors.
EXPECTED, NEGATIVE, ERROR_RECOVERY = "expected", "negative", "error_recovery"
# How an address says that the examples without gold are meant.
WAITS = "none"
_BY_TOOL = frozenset({EXPECTED, NEGATIVE, ERROR_RECOVERY})
# Of these strata a tool's examples are those that call it; an error's are those in which the tool gave it.
_PART: Mapping[str, ToolPart] = dict.fromkeys(CLASSES, ToolPart.EXPECTED) | {"error_class": ToolPart.ANSWERED}


# What the strata are called on pages.
HEADS: Mapping[str, str] = {
    "bucket": "layer",
    "difficulty": "difficulty",
    "edge_case": "edge case",
    "error_class": "error",
}
# Classes of a stratum that no one knows are shown up to this many.
MOST_OTHERS = 30


@dataclass(frozen=True, slots=True)
class Cell:
    """Examples with gold: of a kind (`expected`, `negative`, ..., or a stratum's class as "edge_case.currency").

    About one tool, or about any where `tool` is empty. With `waits`, those of a stratum's class that have no gold yet.
    """

    covers: str
    tool: str = ""
    waits: bool = False

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> Cell | None:
        """Return the cell that an address asks for; None where it asks for none, or for what is no cell."""
        covers, tool = query.get("covers", "")[:80], query.get("tool", "")[:200]
        stratum, _, name = covers.partition(".")
        if covers in _BY_TOOL or (not covers and tool):
            return cls(covers or EXPECTED, tool) if tool else None
        if not name or stratum not in CLASSES:
            return None
        return cls(covers, waits=True) if query.get("gold") == WAITS else cls(covers, tool)

    @property
    def query(self) -> str:
        """The address of the examples behind it, as a query of the list page."""
        about = {"tool": self.tool} if self.tool else {"gold": WAITS} if self.waits else {}
        return urlencode({"covers": self.covers} | about)

    def examples(self, examples: ExampleQuerySet, *, hidden: Collection[str]) -> ExampleQuerySet:
        """Return those of the examples that the cell counts; of `hidden` strata, none that is not resolved."""
        stratum, _, name = self.covers.partition(".")
        if self.waits and stratum in hidden:
            return examples.none()
        if self.waits:
            return examples.filter(~is_resolved("current"), _spelled(stratum, name))
        chosen = examples.filter(current__resolution=Resolution.RESOLVED)
        if self.covers == NEGATIVE:
            return chosen.filter(Q(_about(ToolPart.NEAR, self.tool)) | Q(_about(ToolPart.ESTIMATED, self.tool)))
        if self.covers == EXPECTED:
            return chosen.filter(_about(ToolPart.EXPECTED, self.tool))
        if self.covers == ERROR_RECOVERY:
            reacts = ~Q(error_class="") | _spelled("bucket", "error_recovery")
            return chosen.filter(reacts, _about(ToolPart.ANSWERED, self.tool))
        chosen = chosen.filter(self._of_class(stratum, name))
        return chosen.filter(_about(_PART[stratum], self.tool)) if self.tool else chosen

    def _of_class(self, stratum: str, name: str) -> Q:
        said = _spelled(stratum, name)
        if stratum != "edge_case" or not self.tool:
            return said
        return said | Q(_about(ToolPart.EXPECTED, self.tool, kinds__contains=f",{name},"))


def _about(part: ToolPart, tool: str, **more: str) -> Exists:
    return Exists(GoldTool.objects.filter(gold=OuterRef("current__gold"), part=part, tool=tool, **more))


def _spelled(stratum: str, name: str) -> Q:
    said = Q()
    for spelling in spellings_of(stratum, name):
        said |= Q(**{f"{stratum}__iexact": spelling})
    return said


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what its cells count, under which head, in which group."""

    group: str
    covers: str
    title: str


# The columns of quotas, and those that only show how a tool's examples are spread.
QUOTA_COLUMNS: tuple[Column, ...] = (
    Column("needs", EXPECTED, "calls it"),
    Column("needs", NEGATIVE, "no call"),
    Column("needs", ERROR_RECOVERY, "recovery"),
    *(Column("edge cases", f"edge_case.{kind}", kind.replace("_", " ")) for kind in EDGE_CASES),
    *(Column("errors", f"error_class.{error}", error) for error in ERRORS),
)
SPREAD_COLUMNS: tuple[Column, ...] = (
    Column("needs", EXPECTED, "calls it"),
    *(Column("layer", f"bucket.{name}", name.replace("_", " ")) for name in BUCKETS if name != "no_call"),
    *(Column("difficulty", f"difficulty.{name}", name) for name in DIFFICULTIES),
)


@dataclass(frozen=True, slots=True)
class Count:
    """One cell: how many there are and how many are wanted; None wanted where nothing is."""

    cell: Cell
    have: int
    wanted: int | None
    # So many of them are counted by an estimate.
    estimated: int = 0

    @property
    def lacking(self) -> int:
        """Return how many are still to be added."""
        return max(0, (self.wanted or 0) - self.have)

    @property
    def step(self) -> str:
        """The step of the heat: "" where nothing is wanted or there, d3 where enough is, e1..e3 by what is lacking."""
        if not self.wanted:
            return "" if not self.have else "d3"
        if not self.lacking:
            return "d3"
        share = self.lacking / self.wanted
        return next(step for limit, step in ((0.5, "e1"), (0.999, "e2"), (1, "e3")) if share <= limit)


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool with its cells, in the columns' order."""

    tool: str
    cells: tuple[Count, ...]

    @property
    def lacking(self) -> int:
        """Return how many examples the tool's cells lack together; one example may fill several."""
        return sum(cell.lacking for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Gap:
    """Something to add: how many, of what, in words; `waiting` such examples have no gold yet."""

    lacking: int
    tool: str
    what: str
    have: int
    wanted: int
    cells: tuple[Cell, ...]
    # What waits: a stratum and its class.
    stratum: str = ""
    name: str = ""
    waiting: int = 0

    @property
    def waiting_cell(self) -> Cell:
        """Those that wait."""
        return Cell(f"{self.stratum}.{self.name}", waits=True)


@dataclass(frozen=True, slots=True)
class Share:
    """One class of a stratum against its share of the whole; None wanted where that is a matter of each tool."""

    stratum: str
    name: str
    have: int
    wanted: int | None
    waiting: int

    @property
    def lacking(self) -> int:
        """Return how many are still to be added."""
        return max(0, (self.wanted or 0) - self.have)

    @property
    def cell(self) -> Cell:
        """The examples behind it."""
        return Cell(f"{self.stratum}.{self.name}")

    @property
    def waiting_cell(self) -> Cell:
        """The examples of the class that have no gold yet."""
        return Cell(f"{self.stratum}.{self.name}", waits=True)

    @property
    def head(self) -> str:
        """Return what the stratum is called."""
        return HEADS[self.stratum]

    @property
    def words(self) -> str:
        """Return what the class is called."""
        return self.name.replace("_", " ")


def tool_rows(
    counts: Counts,
    quotas: JsonMapping,
    admitted: Mapping[str, frozenset[str]],
    columns: Iterable[Column] = QUOTA_COLUMNS,
) -> list[ToolRow]:
    """Return a row for each tool of `admitted` (its edge cases) and each that gold calls; what lacks most comes first.

    Edge cases are wanted where a parameter admits them; a tool whose own number is 0 wants nothing.
    """
    columns = tuple(columns)
    called = {name for name, tool in counts.tools.items() if is_tool(name) and (tool.expected or tool.error_recovery)}
    rows = [
        ToolRow(name, tuple(_count(name, column, counts.tools.get(name, ToolCounts()), quotas, admitted)
                            for column in columns))
        for name in admitted.keys() | called
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row.lacking, row.tool))


def shares(counts: Counts, quotas: JsonMapping) -> list[Share]:
    """Return the classes of every stratum, those known ones first, each with what is wanted."""
    wanted = {(stratum, name): number for stratum, name, number in wanted_shares(quotas, counts.size)}
    stratum_shares = []
    for stratum, classes in CLASSES.items():
        others = sorted(counts.strata[stratum].keys() - set(classes))[:MOST_OTHERS]
        for name in (*classes, *others):
            have, waiting = counts.strata[stratum].get(name, (0, 0))
            stratum_shares.append(Share(stratum, name, have, wanted.get((stratum, name)), waiting))
    return stratum_shares


def gaps(counts: Counts, rows: Iterable[ToolRow], shares_: Iterable[Share]) -> list[Gap]:
    """Return what to add, the most lacking first. A tool's edge cases are one gap, and so are its errors."""
    missing = [
        Gap(share.lacking, "", f"{HEADS[share.stratum]}: {share.name.replace('_', ' ')}", share.have, share.wanted or 0,
            (share.cell,), share.stratum, share.name, share.waiting)
        for share in shares_ if share.lacking
    ]  # fmt: skip
    for row in rows:
        missing += _tool_gaps(row)
    return sorted(missing, key=lambda gap: (-gap.lacking, gap.tool, gap.what))


def _tool_gaps(row: ToolRow) -> Iterator[Gap]:
    words = {
        EXPECTED: "calls of it",
        NEGATIVE: "no call though the request comes near it",
        ERROR_RECOVERY: "a reaction to its error",
    }
    grouped: dict[str, list[Count]] = {}
    for count in row.cells:
        if count.lacking and count.cell.covers in words:
            cells = (count.cell,)
            yield Gap(count.lacking, row.tool, words[count.cell.covers], count.have, count.wanted or 0, cells)
        elif count.lacking:
            grouped.setdefault(count.cell.covers.partition(".")[0], []).append(count)
    for stratum, lacking in grouped.items():
        named = ", ".join(count.cell.covers.partition(".")[2].replace("_", " ") for count in lacking)
        what = f"edge cases: {named}" if stratum == "edge_case" else f"reactions to {named}"
        yield Gap(
            sum(count.lacking for count in lacking),
            row.tool,
            what,
            sum(count.have for count in lacking),
            sum(count.wanted or 0 for count in lacking),
            tuple(count.cell for count in lacking),
            stratum,
        )


def _count(
    tool: str, column: Column, counts: ToolCounts, quotas: JsonMapping, admitted: Mapping[str, frozenset[str]]
) -> Count:
    stratum, _, name = column.covers.partition(".")
    have = counts.strata[stratum].get(name, 0) if name else getattr(counts, stratum)
    estimated = counts.estimated if stratum == NEGATIVE else 0
    return Count(Cell(column.covers, tool), have, _wanted(tool, stratum, name, quotas, admitted), estimated)


def _wanted(
    tool: str, stratum: str, name: str, quotas: JsonMapping, admitted: Mapping[str, frozenset[str]]
) -> int | None:
    own = quotas["tools"].get(tool, quotas["per_tool"])
    if own == 0 and tool in quotas["tools"]:
        return None
    if stratum == EXPECTED:
        return max(own, quotas["needs"]["positive"]) or None
    if stratum in (NEGATIVE, ERROR_RECOVERY):
        return quotas["needs"][stratum] or None
    if stratum == "edge_case" and name not in admitted.get(tool, frozenset()):
        return None
    return quotas[stratum].get(name) or None if stratum in ("edge_case", "error_class") else None
