"""Order a label's calls: which alternative, in order, in any order, anywhere, or not at all.

A plan is an expectation's `alternatives` with numbers in the place of calls. It travels through the page as JSON, so
that moving a call changes no field of the call itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

MAX_CALLS = 100
MAX_BYTES = 20_000
Item = TypeVar("Item")


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
        routes = [{"id": one.number, **route_document(one, lambda number, _: number, "")} for one in self.routes]
        return json.dumps(routes, separators=(",", ":"))


def single_plan() -> Plan:
    """Return the plan of a page on which nothing is entered: one call."""
    return Plan([Route(1, [Step([Position([1])])])])


def read_plan(text: str) -> Plan:
    """Return the plan that a page sent; the simple one where it is none."""
    if not text:
        return single_plan()
    try:
        documents = load_json(text, max_bytes=MAX_BYTES, max_depth=10)
        plan = Plan([_route(_number(one["id"]), one, _number) for one in documents])
    except (InvalidDocument, ValueError, KeyError, TypeError):
        return single_plan()
    calls, routes = plan.calls(), [route.number for route in plan.routes]
    unique = len(set(calls)) == len(calls) and len(set(routes)) == len(routes)
    return plan if plan.routes and unique and len(calls) <= MAX_CALLS else single_plan()


def plan_of(alternatives: Sequence[JsonMapping]) -> tuple[Plan, dict[int, JsonMapping]]:
    """Return the plan of an expectation's alternatives, and its calls by their numbers."""
    calls: dict[int, JsonMapping] = {}

    def numbered(call: JsonMapping) -> int:
        calls[len(calls) + 1] = call
        return len(calls)

    return Plan([_route(number, one, numbered) for number, one in enumerate(alternatives, start=1)]), calls


def _route(number: int, document: JsonMapping, call: Callable[[Any], int]) -> Route:
    """Return an alternative from its document; `call` returns the number of what stands for a call."""

    def position(one: Any) -> Position:
        if isinstance(one, Mapping) and "one_of_calls" in one:
            return Position([call(option) for option in _listed(one["one_of_calls"])], True)
        return Position([call(one)])

    def step(one: Any) -> Step:
        if isinstance(one, Mapping) and "any_order" in one:
            return Step([position(member) for member in _listed(one["any_order"])], True)
        return Step([position(one)])

    return Route(
        number,
        [step(one) for one in document.get("ordered", [])],
        [position(one) for one in document.get("unordered", [])],
        [call(one) for one in document.get("disallowed", [])],
    )


def route_document(route: Route, call: Callable[[int, str], Any], at: str) -> JsonObject:
    """Return an alternative's document, which stands at a pointer; without the calls of which `call` returns None."""

    def every(items: Iterable[Item], document: Callable[[Item, str], Any], at: str) -> list[Any]:
        documents: list[Any] = []
        for item in items:
            one = document(item, f"{at}/{len(documents)}")
            documents += [one] if one is not None else []
        return documents

    def position(one: Position, at: str) -> Any:
        if not one.is_choice:
            return call(one.options[0], at)
        options = every(one.options, call, f"{at}/one_of_calls")
        return {"one_of_calls": options} if options else None

    def step(one: Step, at: str) -> Any:
        if not one.is_group:
            return position(one.positions[0], at)
        members = every(one.positions, position, f"{at}/any_order")
        return {"any_order": members} if members else None

    parts = {
        "ordered": every(route.ordered, step, f"{at}/ordered"),
        "unordered": every(route.unordered, position, f"{at}/unordered"),
        "disallowed": every(route.disallowed, call, f"{at}/disallowed"),
    }
    return {name: part for name, part in parts.items() if part}


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ValueError("nothing in it")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 < value < 10_000:
        raise ValueError("not a call's number")
    return value


# Where a call can be put, with respect to the call before it or the open one.
PLACES = ("ordered", "group", "unordered", "instead", "disallowed")


def place_of(plan: Plan, number: int) -> str:
    """Return where a call stands: one of PLACES."""
    route = plan.route_of(number)
    if number in route.disallowed:
        return "disallowed"
    step = _step_of(route, number)
    positions = step.positions if step else route.unordered
    position = next((one for one in positions if number in one.options), None)
    if position is not None and position.options[0] != number:
        return "instead"
    if step is None:
        return "unordered"
    return "group" if step.is_group else "ordered"


def places_for(plan: Plan, number: int) -> tuple[str, ...]:
    """Return where else a call can be put; next to and instead of another one only where there is one before it."""
    route, here = plan.route_of(number), place_of(plan, number)
    has_step = any(number not in _numbers(step) for step in route.ordered) or here in ("group", "instead")
    others = [one for one in route.calls() if one != number and one not in route.disallowed]
    possible = {"group": has_step, "instead": bool(others)}
    return tuple(place for place in PLACES if possible.get(place, True) or place == here)


def add_call(plan: Plan, place: str, beside: int) -> int:
    """Add a call after another one's place and return its number; with "alternative", in an alternative of its own."""
    number = plan.next_number()
    if place == "alternative":
        routes = max(route.number for route in plan.routes) + 1
        plan.routes.append(Route(routes, [Step([Position([number])])]))
    else:
        _insert(plan.route_of(beside), number, place, beside)
    return number


def put_call(plan: Plan, number: int, place: str) -> None:
    """Put a call elsewhere in its alternative."""
    if place == place_of(plan, number):
        return
    route = plan.route_of(number)
    neighbour = _neighbour(route, number, steps_only=place == "group")
    _take_out(route, number)
    _insert(route, number, place, neighbour)


def move_call(plan: Plan, number: int, by: int) -> None:
    """Move a call one place up (-1) or down (1): in its group, its list, or out of its group at the group's edge."""
    route = plan.route_of(number)
    if number in route.disallowed:
        _swap(route.disallowed, route.disallowed.index(number), by)
        return
    step = _step_of(route, number)
    if step is None:
        _swap(route.unordered, _index(route.unordered, number), by)
        return
    place, inside = route.ordered.index(step), _index(step.positions, number)
    if len(step.positions) == 1:
        _swap(route.ordered, place, by)
    elif not _swap(step.positions, inside, by):
        position = step.positions.pop(inside)
        route.ordered.insert(place + max(by, 0), Step([position]))
        _tidy(route)


def remove_call(plan: Plan, number: int) -> int:
    """Take a call out and return the one to show next, 0 where none is left."""
    before = plan.calls()
    route = plan.route_of(number)
    _take_out(route, number)
    if not route.calls() and len(plan.routes) > 1:
        plan.routes.remove(route)
    rest = plan.calls()
    return rest[min(before.index(number), len(rest) - 1)] if rest else 0


def _insert(route: Route, number: int, place: str, beside: int) -> None:
    step = _step_of(route, beside)
    inserters: Mapping[str, Callable[[], Any]] = {
        "disallowed": lambda: route.disallowed.append(number),
        "unordered": lambda: route.unordered.append(Position([number])),
        "instead": lambda: _into_choice(route, number, beside),
        "group": lambda: _into_group(route, number, step),
    }
    inserters.get(place, lambda: _into_order(route, number, step))()


def _into_order(route: Route, number: int, after: Step | None) -> None:
    place = route.ordered.index(after) + 1 if after else len(route.ordered)
    route.ordered.insert(place, Step([Position([number])]))


def _into_group(route: Route, number: int, step: Step | None) -> None:
    group = step or (route.ordered[-1] if route.ordered else None)
    if group is None:
        _into_order(route, number, None)
        return
    group.positions.append(Position([number]))
    group.is_group = True


def _into_choice(route: Route, number: int, beside: int) -> None:
    positions = [position for step in route.ordered for position in step.positions] + route.unordered
    position = next((one for one in positions if beside in one.options), None)
    if position is None:
        _into_order(route, number, None)
        return
    position.options.append(number)
    position.is_choice = True


def _take_out(route: Route, number: int) -> None:
    if number in route.disallowed:
        route.disallowed.remove(number)
        return
    for positions in (*(step.positions for step in route.ordered), route.unordered):
        for position in positions:
            if number in position.options:
                position.options.remove(number)
                position.is_choice = len(position.options) > 1
    _tidy(route)


def _tidy(route: Route) -> None:
    """Drop what is empty, and groups of one."""
    route.unordered = [position for position in route.unordered if position.options]
    for step in route.ordered:
        step.positions = [position for position in step.positions if position.options]
        step.is_group = len(step.positions) > 1
    route.ordered = [step for step in route.ordered if step.positions]


def _neighbour(route: Route, number: int, *, steps_only: bool) -> int:
    """Return the call before a call, else the one after it; 0 where it is alone."""
    calls = [one for one in route.calls() if one not in route.disallowed or one == number]
    if steps_only:
        calls = [one for one in calls if one == number or _step_of(route, one)]
    place = calls.index(number)
    return calls[place - 1] if place else calls[1] if len(calls) > 1 else 0


def _step_of(route: Route, number: int) -> Step | None:
    return next((step for step in route.ordered if number in _numbers(step)), None)


def _numbers(step: Step) -> list[int]:
    return [number for position in step.positions for number in position.options]


def _index(items: list[Position], number: int) -> int:
    return next(place for place, item in enumerate(items) if number in item.options)


def _swap(items: list[Any], place: int, by: int) -> bool:
    other = place + by
    if not 0 <= other < len(items):
        return False
    items[place], items[other] = items[other], items[place]
    return True
