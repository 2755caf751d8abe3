"""Tell what can be done to a plan: a call added, moved, put elsewhere, taken out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labeling.forms.plan import Plan, Position, Route, Step

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
