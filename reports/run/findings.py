"""Work out which parameter of which tool fails how, and what else was found in a run's cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from reports.rates import ExampleSums, Rate, rate
from reports.run.analysis import VerdictCounts
from toolevals.grading.engine.case_findings import BASES, FAMILIES, FIELDS

# How an argument is wrong beside the expected one; those that break the schema are counted apart.
WRONG: Final = ("changed", "missing", "extra")
INVALID: Final = "invalid"
# Any way of WRONG, as lists of cases ask for it.
ANY_WRONG: Final = "wrong"
# What is called so is no parameter: the arguments as a whole.
ALL_TOGETHER: Final = "(all together)"
KINDS: Final = (*WRONG, INVALID)
KIND_WORDS: Final[Mapping[str, str]] = {
    "changed": "another value",
    "missing": "missing",
    "extra": "not expected",
    "invalid": "breaks the schema",
    "wrong": "wrong",
}


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """One parameter of one tool.

    `counts` says in how many calls it is wrong in each way (KINDS); of one call the three of WRONG exclude each other.
    `wrong` is their sum among the calls that expected the tool and called it, with the 95 % interval.
    """

    tool: str
    argument: str
    counts: Mapping[str, int]
    wrong: Rate

    @property
    def name(self) -> str:
        """Return what the parameter is called; a schema can be broken by the arguments as a whole."""
        return self.argument or ALL_TOGETHER


def argument_rows(
    counts: Iterable[tuple[str, str, str, int]],
    aligned: Mapping[tuple[str, str], int],
    sums: Mapping[tuple[str, ...], ExampleSums] = MappingProxyType({}),
) -> tuple[ArgumentRow, ...]:
    """Return a row for each parameter that is wrong somewhere, most often wrong first.

    `counts` are (tool, argument, kind, calls), `aligned` the counts of the matrix of aligned calls by expected and
    actual tool. `sums` are those over the examples by (tool, argument), and by (tool,) where none of its calls is wrong
    (see `toolevals.runs.aggregates.sums.kept_sums`).
    """
    held: dict[tuple[str, str], dict[str, int]] = {}
    for tool, argument, kind, count in counts:
        held.setdefault((tool, argument), dict.fromkeys(KINDS, 0))[kind] = count
    rows = []
    for (tool, argument), found in held.items():
        wrong = sum(found[kind] for kind in WRONG)
        calls = aligned.get((tool, tool), 0)
        rows.append(ArgumentRow(tool, argument, found, wrong_rate(wrong, calls, (tool, argument), sums)))
    rows.sort(key=lambda row: (-row.wrong.passed, -row.counts[INVALID], row.tool, row.argument))
    return tuple(rows)


def wrong_rate(wrong: int, calls: int, parameter: tuple[str, str], sums: Mapping[tuple[str, ...], ExampleSums]) -> Rate:
    """Return the rate of wrong ones. Of examples without any only the calls are known, of all examples by tool."""
    all_calls, some = sums.get((parameter[0],)), sums.get(parameter)
    if all_calls is None:
        return rate(wrong, calls)
    return rate(wrong, calls, all_calls if some is None else all_calls.of_part(some))


# Of these families every kind is shown once anything is counted, those that nothing is of, too.
WHOLE: Final = ("wrong_tool", "arguments")
WORDS: Final[Mapping[str, str]] = {
    "failed_by": "how cases failed",
    "wrong_tool": "wrong tool",
    "arguments": "wrong arguments",
    "result_use": "use of results",
    "fields": "fields",
    "unscored": "unscored by rules",
    "guard": "refused by the guard",
}


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One kind of finding of one tool; `tool` is "" for all tools, `kind` "" for all kinds of the family.

    `cases` are those in which it was found, `count` is how often it was found: of fields how many. `rate` is the share
    of the scored cases of the family's verdict; None of fields.
    """

    family: str
    kind: str
    tool: str
    cases: int
    count: int
    rate: Rate | None

    @property
    def key(self) -> str:
        """Return what a list of its cases is asked by."""
        return f"{self.family}.{self.kind}"

    @property
    def query(self) -> str:
        """Return what the address of a list of its cases asks."""
        return _query(self.key, self.tool)

    @property
    def meaning(self) -> str:
        """Return what the kind means; of one from another version of a grader nothing is known."""
        return FAMILIES.get(self.family, {}).get(self.kind, "")


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool, with its row of each kind of a family in the family's order; None where nothing was found."""

    tool: str
    cells: tuple[FindingRow | None, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """The findings of one family. `total` counts each case once, `kinds` are of all tools, `tools` by tool.

    A case may have several kinds, and be of several tools, except in the families "wrong_tool" and "arguments".
    """

    name: str
    total: FindingRow | None
    kinds: tuple[FindingRow, ...]
    tools: tuple[ToolRow, ...]

    @property
    def cases(self) -> int:
        """In how many cases anything was found."""
        return self.total.cases if self.total else 0


@dataclass(frozen=True, slots=True)
class FieldUse:
    """The number of a tool's returned fields that replies used; `tool` is "" for all tools."""

    tool: str
    used: int
    unused: int

    @property
    def total(self) -> int:
        return self.used + self.unused

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Return how many are used, then how many are not, each with what the address of a list of its cases asks."""
        return tuple((_query(f"fields.{kind}", self.tool), getattr(self, kind)) for kind in FIELDS)

    @property
    def share(self) -> float:
        """The used fields' share of all; there is one field at least."""
        return self.used / self.total


@dataclass(frozen=True, slots=True)
class Findings:
    """Every family of a grading's findings. `is_counted` is false of gradings from before findings were counted."""

    families: Mapping[str, Family]
    rows: tuple[FindingRow, ...]

    @property
    def is_counted(self) -> bool:
        return bool(self.rows)

    def __getitem__(self, family: str) -> Family:
        return self.families[family]

    @property
    def fields(self) -> tuple[FieldUse, ...]:
        """Return how many fields were used: of all tools first, then by tool, those with the most unused ones first."""
        counts: dict[str, dict[str, int]] = {}
        for row in self.rows:
            if row.family == "fields" and row.kind:
                counts.setdefault(row.tool, dict.fromkeys(FIELDS, 0))[row.kind] = row.count
        uses = (FieldUse(tool, each["used"], each["unused"]) for tool, each in counts.items())
        return tuple(sorted(uses, key=lambda each: (each.tool != "", -each.unused, each.tool)))


def _query(found: str, tool: str) -> str:
    return urlencode({"found": found, "tool": tool} if tool else {"found": found})


def findings_of(
    counted: Iterable[tuple[str, str, str, int, int]],
    verdicts: VerdictCounts,
    sums: Mapping[str, ExampleSums],
    parts: Mapping[tuple[str, ...], ExampleSums] = MappingProxyType({}),
) -> Findings:
    """Return the findings from rows of (family, kind, tool, cases, count) and the counted verdicts of the grading.

    `sums` are those of the verdicts over examples, so that several trials of one example count as what they are, and
    `parts` those of the examples in which something was found, by family, kind and tool.
    """
    scored = {
        family: sum(verdicts.get(column, {}).get(status, 0) for status in ("passed", "failed"))
        for family, column in BASES.items()
    }
    wholes = {family: sums.get(column, sums.get("outcome")) for family, column in BASES.items()}

    def share(family: str, kind: str, tool: str, cases: int) -> Rate | None:
        if family not in scored:
            return None
        whole, part = wholes[family], parts.get((family, kind, tool)) if cases else ExampleSums()
        return rate(cases, scored[family], whole.of_part(part) if whole and part else whole)

    rows = tuple(
        FindingRow(family, kind, tool, cases, count, share(family, kind, tool, cases))
        for family, kind, tool, cases, count in sorted(counted, key=_order)
        if family in FAMILIES
    )
    return Findings({name: _family(name, rows, share(name, "", "", 0)) for name in FAMILIES}, rows)


def _order(row: tuple[str, str, str, int, int]) -> tuple[int, int, str, str]:
    family, kind, tool, *_ = row
    families, kinds = list(FAMILIES), ["", *FAMILIES.get(family, {})]
    places = [names.index(name) if name in names else len(names) for name, names in ((family, families), (kind, kinds))]
    return places[0], places[1], kind, tool


def _family(name: str, rows: Sequence[FindingRow], none: Rate | None) -> Family:
    own = [row for row in rows if row.family == name]
    total = next((row for row in own if not row.kind), None)
    by_tool: dict[str, dict[str, FindingRow]] = {}
    for row in own:
        if row.kind and row.tool:
            by_tool.setdefault(row.tool, {})[row.kind] = row
    tools = [ToolRow(tool, tuple(found.get(kind) for kind in FAMILIES[name])) for tool, found in by_tool.items()]
    tools.sort(key=lambda each: (-sum(cell.cases for cell in each.cells if cell), each.tool))
    kinds = {row.kind: row for row in own if row.kind and not row.tool}
    if rows and none and none.total and name in WHOLE:
        kinds = {kind: kinds.get(kind) or FindingRow(name, kind, "", 0, 0, none) for kind in FAMILIES[name]}
        total = total or FindingRow(name, "", "", 0, 0, none)
    return Family(name, total, tuple(kinds.values()), tuple(tools))
