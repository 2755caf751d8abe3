"""Rows and expectations that tests share."""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.examples import ExampleRow, read_example

SHOP_TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_order",
        "description": "Look up an order.",
        "input_schema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "verbose": {"type": "boolean"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    },
    {
        "name": "cancel_order",
        "description": "Cancel an order.",
        "input_schema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    },
]
NO_CALL: dict[str, Any] = {"kind": "no_call", "why": "greeting"}


def call(tool: str = "get_order", order: Any = "A-1") -> dict[str, Any]:
    """Return the expectation of one call."""
    trajectory = {"ordered": [{"tool": tool, "arguments": {"order_id": {"exact": order}}}]}
    return {"kind": "calls", "alternatives": [trajectory]}


def document(external_id: str, **more: Any) -> dict[str, Any]:
    """Return one line of an import file: an example in the full form, without an expectation unless given."""
    message = {"role": "user", "content": f"Where is order {external_id}?"}
    return {"id": external_id, "input": {"messages": [message]}, **more}


def row(external_id: str, **more: Any) -> ExampleRow:
    """Return the same as a row that was read."""
    return read_example(document(external_id, **more))
