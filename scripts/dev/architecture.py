"""Draw rooms and wings from the import contracts: `python -m scripts.dev.architecture` writes docs/architecture.md."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.dev.environment import ROOT

PAGE = ROOT / "docs" / "architecture.md"


def levels(name: str) -> list[list[str]]:
    """Return the levels of the contract of that name, the highest first: each the modules next to each other."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = (each for each in contracts if each["name"] == name)
    prefix = f"{contract['containers'][0]}." if "containers" in contract else ""
    found = [[prefix + part.strip(" ()") for part in level.split("|")] for level in contract["layers"]]
    # Rooms in brackets are optional: those that do not exist are not drawn.
    present = [[room for room in level if folder_of(room).is_dir()] for level in found]
    return [level for level in present if level]


def folder_of(room: str) -> Path:
    """Return the folder of a module."""
    return ROOT.joinpath(*room.split("."))


def arrows(rooms: Sequence[str]) -> dict[str, set[str]]:
    """Return which of these rooms each imports directly, in whatever function or for whatever purpose."""
    longest = sorted(rooms, key=len, reverse=True)
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for room in rooms:
        for path in folder_of(room).rglob("*.py"):
            for module in _imported(path):
                target = next((each for each in longest if f"{module}.".startswith(f"{each}.")), room)
                if target != room:
                    found[room].add(target)
    return found


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def picture(name: str) -> str:
    """Return a table: a row for each room, the highest level first, with the rooms that it imports."""
    drawn = levels(name)
    rooms = [room for level in drawn for room in level]
    targets = arrows(rooms)
    rows = ["| level | room | imports |", "| --- | --- | --- |"]
    for place, level in enumerate(drawn):
        for room in level:
            used = ", ".join(_short(each) for each in rooms if each in targets[room]) or "nothing"
            rows.append(f"| {len(drawn) - place} | {_short(room)} | {used} |")
    rows += ["", f"{len(rooms)} rooms, {len(drawn)} levels, {sum(map(len, targets.values()))} arrows."]
    return "\n".join(rows)


def _short(room: str) -> str:
    return f"`{room.removeprefix('toolevals.grading.').removeprefix('toolevals.')}`"


def drawn_page(text: str) -> str:
    """Return the page with every picture drawn again."""

    def redraw(match: re.Match[str]) -> str:
        return f"{match[1]}{picture(match[2])}\n{match[3]}"

    return re.sub(r"(<!-- picture: (.+?) -->\n).*?(<!-- end of the picture -->)", redraw, text, flags=re.DOTALL)


def main() -> None:
    """Write the pictures into the page."""
    PAGE.write_text(drawn_page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
