"""Draws many squares of a small picture as a few paths: one for each look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Squares:
    """All squares of one look: a class of the stylesheet, and the `d` of an SVG path."""

    look: str
    path: str


def squares(places: Iterable[tuple[str, float, float]], side: float) -> tuple[Squares, ...]:
    """Return the squares with this side by their looks, each look where it comes first.

    `places`: the look, and the left and the top of each, in units of the picture.
    """
    paths: dict[str, list[str]] = {}
    for look, left, top in places:
        paths.setdefault(look, []).append(f"M{left:g} {top:g}h{side:g}v{side:g}h{-side:g}z")
    return tuple(Squares(look, "".join(parts)) for look, parts in paths.items())
