"""Names tools as chat protocols take them: letters, digits, `_` and `-`, at most 64.

Datasets have names with dots and spaces, which providers refuse. A model is shown the nearest name that they take, and
what it calls is named again as the dataset does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolevals.grading.values import Call, Message, ToolCall, ToolSpec
from toolevals.grading.values.tools import LONGEST, wire_name


class WireNames:
    """The names of the tools that are offered together, in both directions."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._real: dict[str, str] = {}
        self._wire: dict[str, str] = {}
        # Names that are taken as they are come first: no other name may become one of them.
        for tool in sorted(tools, key=lambda each: wire_name(each.name) != each.name):
            name = self._free(wire_name(tool.name))
            self._real[name] = tool.name
            self._wire[tool.name] = name

    def shown_tools(self, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
        """Return the tools named as the model sees them."""
        return [replace(tool, name=self._shown(tool.name)) for tool in tools]

    def shown(self, messages: Sequence[Message]) -> list[Message]:
        """Return a conversation with the tools named as the model sees them."""
        return [_renamed(message, self._shown) for message in messages]

    def meant(self, message: Message) -> Message:
        """Return what the model said with the tools named as the dataset names them."""
        return _renamed(message, lambda name: self._real.get(name, name))

    def _shown(self, name: str) -> str:
        return self._wire.get(name) or wire_name(name)

    def _free(self, name: str) -> str:
        number, free = 2, name
        while free in self._real:
            free = f"{name[: LONGEST - 4]}_{number}"
            number += 1
        return free


def _renamed(message: Message, name: Callable[[str], str]) -> Message:
    return replace(message, calls=tuple(_call(call, name) for call in message.calls)) if message.calls else message


def _call(call: Call, name: Callable[[str], str]) -> Call:
    if isinstance(call, ToolCall):
        return ToolCall(name(call.name), call.arguments, call.id)
    return replace(call, name=name(call.name)) if call.name else call
