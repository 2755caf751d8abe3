"""Work out which parameter fails how: the wrong arguments of calls to the right tool, by tool and parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from reports.rates import ExampleSums, Rate, rate

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
    (see `runs.services.kept_sums`).
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
