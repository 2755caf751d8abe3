"""A small shop in memory whose tools change its state: a simulator for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from toolevals.agents.code.states import SharedState
from toolevals.agents.worlds import NotSimulatedError, ToolAnswer, World, WorldDiedError
from toolevals.grading.values import ToolCall

INITIAL: dict[str, Any] = {
    "orders": {
        "A-1": {"state": "sent", "total": 45, "notes": []},
        "B-2": {"state": "open", "total": 12, "notes": []},
    },
    "refunds": {},
}


def status(state: dict[str, Any], order_id: str) -> Any:
    return state["orders"][order_id]["state"]


def cancel(state: dict[str, Any], order_id: str) -> Any:
    order = state["orders"][order_id]
    if order["state"] != "open":
        raise ValueError("only an open order can be cancelled")
    order["state"] = "cancelled"
    return "done"


def note(state: dict[str, Any], order_id: str, text: str) -> Any:
    state["orders"][order_id]["notes"].append(text)
    return "done"


def die(state: dict[str, Any]) -> Any:
    raise WorldDiedError("out of memory")


TOOLS: Mapping[str, Callable[..., Any]] = {"status": status, "cancel": cancel, "note": note, "die": die}


class ShopSimulator:
    """Makes worlds that share one initial state; `worlds` counts them."""

    def __init__(self, initial: Mapping[str, Any] | None = None) -> None:
        self.shared = SharedState(INITIAL if initial is None else initial)
        self.worlds = 0

    @contextmanager
    def world(self, example: Mapping[str, Any]) -> Iterator[World]:
        self.worlds += 1
        yield _ShopWorld(self.shared)


class _ShopWorld:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._state = shared.begin()

    def call(self, call: ToolCall) -> ToolAnswer:
        if call.name not in TOOLS:
            raise NotSimulatedError(call.name)
        try:
            return ToolAnswer(str(TOOLS[call.name](self._state, **call.arguments)))
        except WorldDiedError:
            raise
        except Exception as error:  # noqa: BLE001 (whatever a tool raises is its answer)
            return ToolAnswer(f"{type(error).__name__}: {error}", is_error=True)

    def state(self) -> Mapping[str, Any]:
        return self._shared.end(self._state)
