"""Order a label's calls: which alternative, in order, in any order, anywhere, or not at all.

A plan is an expectation's `alternatives` with numbers in the place of calls. It travels through the page as JSON, so
that moving a call changes no field of the call itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

MAX_CALLS = 100
MAX_BYTES = 20_000


@dataclass(slots=True)
class Position:
    """One expected call: its number, or several of which one will do."""

    options: list[int]
    is_choice: bool = False


@dataclass(slots=True)
class Step:
    """One place in the order: a position, or a group of them in any order."""

    positions: list[Position]
    is_group: bool = False


@dataclass(slots=True)
class Route:
    """One accepted alternative. `number` names its own fields."""

    number: int
    ordered: list[Step] = field(default_factory=list)
    unordered: list[Position] = field(default_factory=list)
    disallowed: list[int] = field(default_factory=list)

    def positions(self) -> list[Position]:
        """Return its expected calls, in the order in which references count them."""
        return [position for step in self.ordered for position in step.positions] + self.unordered

    def before(self, number: int) -> list[Position]:
        """Return the expected calls before a call, to whose results it can refer."""
        positions = self.positions()
        place = next((place for place, each in enumerate(positions) if number in each.options), 0)
        return positions[:place]

    def calls(self) -> list[int]:
        """Return the numbers of its calls, as they are listed."""
        return [number for position in self.positions() for number in position.options] + self.disallowed


@dataclass(slots=True)
class Plan:
    """All alternatives."""

    routes: list[Route]

    def calls(self) -> list[int]:
        """Return the numbers of all calls, as they are listed."""
        return [number for route in self.routes for number in route.calls()]

    def next_number(self) -> int:
        """Return a number that no call has."""
        return max(self.calls(), default=0) + 1

    def route_of(self, number: int) -> Route:
        """Return the alternative of a call; the first one where it is in none."""
        return next((route for route in self.routes if number in route.calls()), self.routes[0])

    @property
    def is_simple(self) -> bool:
        """Return whether it is one call and nothing else."""
        return len(self.routes) == 1 and len(self.calls()) == 1 and bool(self.routes[0].ordered)

    def to_text(self) -> str:
        """Return the plan as the page keeps it."""
        return json.dumps([_route_document(route) for route in self.routes], separators=(",", ":"))


def single_plan() -> Plan:
    """Return the plan of a page on which nothing is entered: one call."""
    return Plan([Route(1, [Step([Position([1])])])])


def read_plan(text: str) -> Plan:
    """Return the plan that a page sent; the simple one where it is none."""
    if not text:
        return single_plan()
    try:
        plan = Plan([_route(document) for document in load_json(text, max_bytes=MAX_BYTES, max_depth=10)])
    except (InvalidDocument, ValueError, KeyError, TypeError):
        return single_plan()
    calls, routes = plan.calls(), [route.number for route in plan.routes]
    unique = len(set(calls)) == len(calls) and len(set(routes)) == len(routes)
    return plan if plan.routes and unique and len(calls) <= MAX_CALLS else single_plan()


def plan_of(alternatives: Sequence[Mapping[str, Any]]) -> tuple[Plan, dict[int, Mapping[str, Any]]]:
    """Return the plan of an expectation's alternatives, and its calls by their numbers."""
    calls: dict[int, Mapping[str, Any]] = {}

    def numbered(call: Mapping[str, Any]) -> int:
        calls[len(calls) + 1] = call
        return len(calls)

    def position(document: Mapping[str, Any]) -> Position:
        options = document.get("one_of_calls")
        return Position([numbered(call) for call in options], True) if options else Position([numbered(document)])

    def step(document: Mapping[str, Any]) -> Step:
        members = document.get("any_order")
        return Step([position(one) for one in members], True) if members else Step([position(document)])

    routes = [
        Route(
            number,
            [step(one) for one in document.get("ordered") or []],
            [position(one) for one in document.get("unordered") or []],
            [numbered(one) for one in document.get("disallowed") or []],
        )
        for number, document in enumerate(alternatives, start=1)
    ]
    return Plan(routes), calls


def _route(document: Any) -> Route:
    return Route(
        _number(document["id"]),
        [_step(one) for one in document.get("ordered", [])],
        [_position(one) for one in document.get("unordered", [])],
        [_number(one) for one in document.get("disallowed", [])],
    )


def _step(document: Any) -> Step:
    if isinstance(document, Mapping) and "any_order" in document:
        return Step([_position(one) for one in _listed(document["any_order"])], True)
    return Step([_position(document)])


def _position(document: Any) -> Position:
    if isinstance(document, Mapping):
        return Position([_number(one) for one in _listed(document["one_of_calls"])], True)
    return Position([_number(document)])


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ValueError("nothing in it")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 < value < 10_000:
        raise ValueError("not a call's number")
    return value


def _route_document(route: Route) -> dict[str, Any]:
    parts = {
        "ordered": [_step_document(step) for step in route.ordered],
        "unordered": [_position_document(position) for position in route.unordered],
        "disallowed": route.disallowed,
    }
    return {"id": route.number, **{name: part for name, part in parts.items() if part}}


def _step_document(step: Step) -> Any:
    members = [_position_document(position) for position in step.positions]
    return {"any_order": members} if step.is_group else members[0]


def _position_document(position: Position) -> Any:
    return {"one_of_calls": position.options} if position.is_choice else position.options[0]
