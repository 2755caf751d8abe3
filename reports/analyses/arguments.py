"""Work out which parameter fails how: the wrong arguments of calls to the right tool, by tool and parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from reports.analyses.rates import ExampleSums, Rate, rate

# How an argument is wrong beside the expected one; those that break the schema are counted apart.
WRONG: Final = ("changed", "missing", "extra")
INVALID: Final = "invalid"
KINDS: Final = (*WRONG, INVALID)
KIND_WORDS: Final[Mapping[str, str]] = {
    "changed": "another value",
    "missing": "missing",
    "extra": "not expected",
    "invalid": "breaks the schema",
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
        return self.argument or "(all together)"


def argument_rows(
    counts: Iterable[tuple[str, str, str, int]],
    aligned: Mapping[tuple[str, str], int],
    sums: Mapping[tuple[str, ...], ExampleSums] = MappingProxyType({}),
) -> tuple[ArgumentRow, ...]:
    """Return a row for each parameter that is wrong somewhere, most often wrong first.

    `counts` are (tool, argument, kind, calls), `aligned` the counts of the matrix of aligned calls by expected and
    actual tool. `sums` are those over the examples by (tool, argument), and by (tool,) where none of its calls is wrong
    (see `runs.services.kept_sums`).
    """
    held: dict[tuple[str, str], dict[str, int]] = {}
    for tool, argument, kind, count in counts:
        held.setdefault((tool, argument), dict.fromkeys(KINDS, 0))[kind] = count
    rows = [
        ArgumentRow(tool, argument, found, _wrong(found, aligned.get((tool, tool), 0), tool, argument, sums))
        for (tool, argument), found in held.items()
    ]
    rows.sort(key=lambda row: (-row.wrong.passed, -row.counts[INVALID], row.tool, row.argument))
    return tuple(rows)


def _wrong(
    counts: Mapping[str, int],
    calls: int,
    tool: str,
    argument: str,
    sums: Mapping[tuple[str, ...], ExampleSums],
) -> Rate:
    """Return the rate of wrong ones. Of examples without any only the calls are known, of all examples by tool."""
    wrong, all_calls, some = sum(counts[kind] for kind in WRONG), sums.get((tool,)), sums.get((tool, argument))
    if all_calls is None:
        return rate(wrong, calls)
    if some is None:
        return rate(wrong, calls, all_calls)
    return rate(
        wrong, calls, replace(all_calls, passed=some.passed, passed_squared=some.passed_squared, crossed=some.crossed)
    )
