"""Draws small pictures: a line over a few runs as points for an SVG of 180 x 66 units, and many squares as paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 180.0, 66.0, 4.0


@dataclass(frozen=True, slots=True)
class Spark:
    """The line's points, the polygon of its intervals, the newest point and the height of the goal, as attributes."""

    line: str
    band: str
    x: str
    y: str
    goal: str


def spark(points: Sequence[tuple[float, float, float]], *, goal: float, least: float | None = None) -> Spark:
    """Return the picture of at least one (value, low, high), oldest first, all in 0..1; it has room for `least`."""
    start = (min(*(low for _, low, _ in points), goal) if least is None else least) - 0.02
    width = (WIDTH - 2 * MARGIN) / max(1, len(points) - 1)

    def y(share: float) -> float:
        return HEIGHT - MARGIN - (share - start) / (1.0 - start) * (HEIGHT - 2 * MARGIN)

    xs = [WIDTH - MARGIN - width * (len(points) - 1 - index) for index in range(len(points))]
    upper = [(x, y(high)) for x, (_, _, high) in zip(xs, points, strict=True)]
    lower = [(x, y(low)) for x, (_, low, _) in zip(xs, points, strict=True)]
    middle = [(x, y(value)) for x, (value, _, _) in zip(xs, points, strict=True)]
    return Spark(
        line=_points(middle),
        band=_points(upper + lower[::-1]),
        x=f"{middle[-1][0]:.1f}",
        y=f"{middle[-1][1]:.1f}",
        goal=f"{y(goal):.1f}",
    )


@dataclass(frozen=True, slots=True)
class BrokenSpark:
    """The same of stretches that are not joined: a line and a band each; `changes` are the places of new things."""

    lines: tuple[str, ...]
    bands: tuple[str, ...]
    dots: tuple[tuple[str, str], ...]
    changes: tuple[str, ...]
    goal: str


def broken_spark(
    segments: Sequence[Sequence[tuple[int, float, float, float]]],
    *,
    goal: float,
    width: int,
    changes: Sequence[int],
    least: float | None = None,
) -> BrokenSpark:
    """Return the picture of stretches of (place, value, low, high), places in 0..width - 1, shares in 0..1.

    It has room for `least`, by default for the lowest of its own.
    """
    points = [point for segment in segments for point in segment]
    start = (min(*(low for _, _, low, _ in points), goal) if least is None else least) - 0.02

    def x(place: int) -> float:
        return MARGIN + place * (WIDTH - 2 * MARGIN) / max(1, width - 1)

    def y(share: float) -> float:
        return HEIGHT - MARGIN - (share - start) / (1.0 - start) * (HEIGHT - 2 * MARGIN)

    return BrokenSpark(
        lines=tuple(_points([(x(place), y(value)) for place, value, _, _ in segment]) for segment in segments),
        bands=tuple(
            _points([(at, y(high)) for at, _, high in wide] + [(at, y(low)) for at, low, _ in reversed(wide)])
            for wide in (_wide([(x(place), low, high) for place, _, low, high in segment]) for segment in segments)
        ),
        dots=tuple((f"{x(place):.1f}", f"{y(value):.1f}") for place, value, _, _ in points),
        changes=tuple(f"{x(place):.1f}" for place in changes),
        goal=f"{y(goal):.1f}",
    )


def _wide(band: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Return a band of (x, low, high); that of one point is made as wide as the point, so that it is seen."""
    if len(band) > 1:
        return band
    return [(at + by, low, high) for at, low, high in band for by in (-1.6, 1.6)]


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


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
