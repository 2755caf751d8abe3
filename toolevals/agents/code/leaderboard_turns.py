"""Runs conversations of several turns on the leaderboard's own simulators, and compares the states that they leave.

It is the main file of a simulator: it runs in the sandbox, knows the standard library alone, and finds the benchmark's
files next to it. A call is a method of a class, found by its name among the public ones. No text is ever evaluated.
"""

from __future__ import annotations

import copy
import decimal
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn, TypeAlias

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
# The file of each class that runs. What they import beyond the standard library stands in `long_context` and `mpmath`.
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
FILES = (*sorted(CLASSES.values()), "long_context")
# The folder, next to the data, where they are kept.
SIMULATORS = "simulators"
# The one class that begins without a configuration.
STATELESS = "MathAPI"
NO_LOGARITHM = "MathAPI.logarithm needs the package mpmath, which is not installed with toolevals"
LONGEST_SHOWN = 200
DEEPEST_SHOWN = 30
_MISSING = object()

Call: TypeAlias = Mapping[str, Any]
"""`{"name": ..., "positional": [...], "named": {...}}`"""


# Past the `except Exception` of the simulators.
class NotRunError(BaseException):
    """Something that the files here cannot do."""


class Instances:
    """An instance of each class of a conversation, in the conversation's first state."""

    def __init__(self, classes: Sequence[str], configs: Mapping[str, Any], *, long_context: bool) -> None:
        self.by_class: dict[str, Any] = {}
        self._methods: dict[str, Callable[..., Any]] = {}
        for name in classes:
            instance = getattr(importlib.import_module(f"{PACKAGE}.{CLASSES[name]}"), name)()
            if name != STATELESS:
                instance._load_scenario(copy.deepcopy(configs.get(name, {})), long_context=long_context)
            self.by_class[name] = instance
            methods = inspect.getmembers(instance, inspect.ismethod)
            # Of two classes with a method of one name the later one has it, as in the original.
            self._methods |= {name: method for name, method in methods if not name.startswith("_")}

    def result_of(self, call: Call) -> str:
        """Return what a call returns, or the error that it raises, as the original writes them."""
        try:
            if call["name"] not in self._methods:
                raise NameError(f"name '{call['name']}' is not defined")  # noqa: TRY301 - told like the call's own
            result = self._methods[call["name"]](*call["positional"], **call["named"])
            if type(result) is dict:
                try:
                    return json.dumps(result)
                except (TypeError, ValueError):
                    return str(result)
            return str(result)
        except Exception as error:  # noqa: BLE001 - whatever a call raises is its result
            return f"Error during execution: {error}"


def check(
    _: object,
    classes: Sequence[str],
    configs: Mapping[str, Any],
    long_context: bool,
    expected: Sequence[Sequence[Call]],
    made: Sequence[Sequence[Sequence[Call]]],
) -> dict[str, Any]:
    """Return `{"error_type", "reason"}`, both null where every turn is right, or `{"unscored": ...}`.

    `expected` has the calls of each turn, `made` the steps of each turn, each with its calls.
    """
    _begin_afresh()
    try:
        ours = Instances(classes, configs, long_context=long_context)
        theirs = Instances(classes, configs, long_context=long_context)
        error = _first_error(ours, theirs, expected, made)
    except NotRunError as missing:
        return {"unscored": str(missing)}
    return dict(zip(("error_type", "reason"), error or (None, None), strict=True))


def _begin_afresh() -> None:
    """Forget what earlier conversations left in modules: some of their tables become part of a state, and change."""
    sys.dont_write_bytecode, sys.pycache_prefix = False, "/tmp/python"  # noqa: S108 - the sandbox's own
    for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    decimal.setcontext(decimal.Context())
    if "mpmath" not in sys.modules and importlib.util.find_spec("mpmath") is None:
        module: Any = ModuleType("mpmath")
        module.mp, module.log = SimpleNamespace(), _no_logarithm
        sys.modules["mpmath"] = module


def _no_logarithm(_: object) -> NoReturn:
    raise NotRunError(NO_LOGARITHM)


def _first_error(
    ours: Instances,
    theirs: Instances,
    expected: Sequence[Sequence[Call]],
    made: Sequence[Sequence[Sequence[Call]]],
) -> tuple[str, str] | None:
    """Return the error type and the reason of the first turn that is wrong; both sides keep their state."""
    results: list[str] = []
    for turn, (steps, wanted) in enumerate(zip(made, expected, strict=True), 1):
        results += [ours.result_of(call) for step in steps for call in step]
        right = [theirs.result_of(call) for call in wanted]
        if not wanted:
            continue
        if not steps:
            return "multi_turn:empty_turn_model_response", f"turn {turn}: no call, and {len(wanted)} expected"
        if (difference := _state_difference(ours, theirs)) is not None:
            return "multi_turn:instance_state_mismatch", f"turn {turn}: {difference}"
        left = list(results)
        for call, result in zip(wanted, right, strict=True):
            if result not in left:
                shown = f"turn {turn}: no call so far returned what {_written(call)} returns: {_shortened(result)}"
                return "multi_turn:execution_response_mismatch", shown
            left.remove(result)
    return None


def _state_difference(ours: Instances, theirs: Instances) -> str | None:
    for name, instance in theirs.by_class.items():
        for attribute, wanted in _public(instance).items():
            found = getattr(ours.by_class[name], attribute, _MISSING)
            if found != wanted:
                return _difference(f"{name}.{attribute}", found, wanted)
    return None


def _public(instance: object) -> dict[str, Any]:
    return {name: value for name, value in vars(instance).items() if not name.startswith("_")}


def _difference(place: str, found: object, wanted: object, depth: int = 0) -> str:
    """Return the first place inside two values where they differ, in words."""
    if type(found) is type(wanted) and depth < DEEPEST_SHOWN:
        for name, one, other in _parts(found, wanted):
            if one != other:
                return _difference(f"{place}{name}", one, other, depth + 1)
    return f"{place} is {_shown(found)}, expected {_shown(wanted)}"


def _parts(found: Any, wanted: Any) -> list[tuple[str, Any, Any]]:
    """Return the parts of two values of one type, each with its name; nothing where they have none in common."""
    if isinstance(wanted, dict):
        return [(f"[{key!r}]", found.get(key, _MISSING), wanted.get(key, _MISSING)) for key in {**wanted, **found}]
    if isinstance(wanted, list):
        pairs = zip(found, wanted, strict=False) if len(found) == len(wanted) else ()
        return [(f"[{number}]", one, other) for number, (one, other) in enumerate(pairs)]
    if not hasattr(wanted, "__dict__"):
        return []
    # A folder knows the one that it is in, which is further up.
    names = [name for name in _public(wanted) if name != "parent"]
    return [(f".{name}", getattr(found, name, _MISSING), getattr(wanted, name)) for name in names]


def _shown(value: object) -> str:
    return "missing" if value is _MISSING else _shortened(repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} ..."


def _written(call: Call) -> str:
    arguments = [*map(repr, call["positional"]), *(f"{name}={value!r}" for name, value in call["named"].items())]
    return _shortened(f"{call['name']}({', '.join(arguments)})")


TOOLS = {"check": check}
