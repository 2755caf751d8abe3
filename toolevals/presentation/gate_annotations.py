"""Says of each tool whose numbers changed what changed, for its line in a file of tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolevals.grading.values.verdicts import NONE
from toolevals.presentation.gate_comment import CellChange, RunChanges
from toolevals.presentation.numbers import count, part_count, short

_MOST_PAIRS: Final = 5
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class ToolChange:
    """The change of one tool. `is_worse`: it is confused with others more often than before."""

    tool: str
    is_worse: bool
    title: str
    message: str


def tool_changes(changes: RunChanges | None) -> list[ToolChange]:
    """Return the tools whose cells of the matrix changed, those that are confused more often first."""
    of_tool: defaultdict[str, list[CellChange]] = defaultdict(list)
    for cell in changes.cells if changes else ():
        if cell.difference:
            for tool in {cell.expected, cell.actual} - {NONE}:
                of_tool[tool].append(cell)
    made = [_change(tool, cells) for tool, cells in of_tool.items()]
    return sorted(made, key=lambda each: (not each.is_worse, each.tool))


def _change(tool: str, cells: list[CellChange]) -> ToolChange:
    confused = [cell for cell in cells if cell.expected != cell.actual]
    more = sum(cell.difference for cell in confused)
    if right := next((cell for cell in cells if cell.expected == cell.actual), None):
        title = f"called where it is right: {_numbers(right)}"
        is_worse = more > 0 or (more == 0 and right.difference < 0)
    else:
        title, is_worse = "confused otherwise than before", more > 0
    message = "\n".join([*_lines(tool, confused), "Whether this may be chance is in the comment on the pull request."])
    return ToolChange(tool, is_worse, f"{_name(tool)}: {title}", message)


def _lines(tool: str, confused: list[CellChange]) -> Iterator[str]:
    confused.sort(key=lambda cell: (-abs(cell.difference), cell.expected, cell.actual))
    for cell in confused[:_MOST_PAIRS]:
        if cell.expected != tool:
            words = f"Called where {_name(cell.expected)} is right"
        elif cell.actual == NONE:
            words = "Not called where it is right"
        else:
            words = f"{_name(cell.actual)} called in its place"
        yield f"{words}: {_numbers(cell)} examples."
    if left := confused[_MOST_PAIRS:]:
        yield f"{count(len(left))} more pairs changed."


def _numbers(cell: CellChange) -> str:
    return f"{part_count(cell.before)} → {part_count(cell.after)}"


def _name(tool: str) -> str:
    """Return a name as a forge shows it: nothing in it breaks a line."""
    return (
        "no call"
        if tool == NONE
        else "".join(mark if mark.isprintable() else "?" for mark in short(tool, _LONGEST_NAME))
    )
