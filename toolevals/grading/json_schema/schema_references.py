"""Finds the references between the parts of one schema that go round in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from toolevals.grading.json_schema.subschemas import subschemas
from toolevals.grading.values.json_pointers import parts_of
from toolevals.grading.values.problems import pointer_to

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A `$ref` inside a schema: the schema that holds it, and the place that it leads to.

    `optional` says that it stands within a property that may be left out, as seen from `inside`, the nearest schema
    around it that is itself referred to.
    """

    where: Place
    target: Place
    inside: Place = ()
    optional: bool = False

    @property
    def pointer(self) -> str:
        """The pointer to the `$ref` itself."""
        return pointer_to((*self.where, "$ref"))


@dataclass(frozen=True, slots=True)
class Circle:
    """A reference that leads back to a schema around it, and whether some property on the way may be left out."""

    reference: Reference
    optional: bool


def circles(schema: dict[str, Any]) -> list[Circle]:
    """Return the references that close a circle, in the schema's order."""
    edges = _edges(schema)
    done: set[Place] = set()
    circles: list[Circle] = []
    for start in edges:
        if start not in done:
            _walk(start, edges, done, circles)
    return circles


@dataclass(slots=True)
class _Step:
    """A schema on the way, the reference that led to it, and its own references that are still to be followed."""

    place: Place
    reached_by: Reference | None
    rest: Iterator[Reference] = field(default_factory=lambda: iter(()))


def _walk(start: Place, edges: Mapping[Place, list[Reference]], done: set[Place], circles: list[Circle]) -> None:
    way = [_Step(start, None, iter(edges[start]))]
    on_way = {start: 0}
    while way:
        reference = next(way[-1].rest, None)
        if reference is None:
            step = way.pop()
            del on_way[step.place]
            done.add(step.place)
        elif reference.target in on_way:
            back = way[on_way[reference.target] + 1 :]
            steps = [reference, *(step.reached_by for step in back if step.reached_by)]
            circles.append(Circle(reference, any(each.optional for each in steps)))
        elif reference.target in edges and reference.target not in done:
            on_way[reference.target] = len(way)
            way.append(_Step(reference.target, reference, iter(edges[reference.target])))


def _edges(schema: dict[str, Any]) -> dict[Place, list[Reference]]:
    """Return the references by each schema that is referred to, or is the root, and holds them at any depth."""
    places: dict[Place, dict[str, Any]] = {}
    plain: list[Reference] = []
    for path, subschema in subschemas(schema):
        place = tuple(str(part) for part in path)
        places[place] = subschema
        reference = subschema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            plain.append(Reference(place, parts_of(unquote(reference[1:]))))
    edges: dict[Place, list[Reference]] = {(): []}
    edges |= {each.target: [] for each in plain}
    for each in plain:
        for length in range(len(each.where) + 1):
            holder = each.where[:length]
            if holder in edges and not _in_definitions(each.where[length:]):
                optional = _is_optional(places, each.where, length)
                edges[holder].append(Reference(each.where, each.target, holder, optional))
    return edges


def _in_definitions(rest: Place) -> bool:
    # What is only defined there is not yet used there.
    return bool(rest) and rest[0] in ("$defs", "definitions")


def _is_optional(places: Mapping[Place, dict[str, Any]], where: Place, start: int) -> bool:
    for length in range(start, len(where) - 1):
        if where[length] == "properties" and (holder := places.get(where[:length])) is not None:
            required = holder.get("required")
            if not isinstance(required, list) or where[length + 1] not in required:
                return True
    return False
