"""Shortens the names of classes where there is little room."""

from __future__ import annotations

from typing import Final

LONGEST_LABEL: Final = 28
# Stands between a class and what divides it: `pay · wrong`.
DIVIDER: Final = " · "


def short(name: str, longest: int = LONGEST_LABEL) -> str:
    """Return a name as a label, cut in its middle where it is long: names of one service differ at their ends.

    What divides a class is not cut: its parts differ in that alone.
    """
    if len(name) <= longest:
        return name
    whole, divider, part = name.rpartition(DIVIDER)
    end = divider + part if whole and len(part) <= longest // 2 else ""
    room = max(longest - 1 - len(end), 2)
    head = room // 3
    return f"{name[:head]}…{name[len(name) - len(end) - (room - head) :]}"
