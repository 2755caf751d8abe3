"""A shop's tools and conversations, and labels of them, for the tests of pages."""

from __future__ import annotations

import json
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_order",
        "description": "State of one order, by its id",
        "input_schema": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "description": "Such as A-20418"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
        "annotations": {"read_only": True},
    },
    {
        "name": "create_return",
        "description": "Open a return for delivered items",
        "input_schema": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string"},
                "skus": {"type": "array", "items": {"type": "string"}},
                "refund_to": {"type": "string", "enum": ["original payment", "store credit"]},
                "quantity": {"type": "integer", "minimum": 1, "default": 1},
                "express": {"type": "boolean"},
                "store": {"type": ["string", "null"]},
                "extra": {"type": "object"},
                "pickup": {
                    "type": "object",
                    "properties": {
                        "date": {"type": "string", "format": "date"},
                        "window": {"type": "string", "enum": ["morning", "noon", "afternoon", "evening", "any"]},
                    },
                    "required": ["date", "window"],
                },
            },
            "required": ["order_id", "skus", "refund_to"],
            "additionalProperties": False,
        },
        "annotations": {"read_only": False, "destructive": True},
    },
]


def messages(order: str = "A-20418") -> list[dict[str, Any]]:
    """Return a conversation with a call and its result."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "get_order", "arguments": json.dumps({"order_id": order})},
    }
    return [
        {"role": "system", "content": "Today is Tuesday 10 March 2026."},
        {"role": "user", "content": f"My order {order} came. One shirt is torn."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"state": "delivered", "total": 98.00}'},
        {"role": "user", "content": "Send it back please, on Thursday."},
    ]


def row(number: int, **more: Any) -> dict[str, Any]:
    """Return one line of an import file."""
    return {"id": f"ex-{number}", "input": {"messages": messages(f"A-{20418 + number}")}, **more}


def returned(order: str = "A-20418", **arguments: Any) -> dict[str, Any]:
    """Return the expectation of one return."""
    matchers = {
        "order_id": {"exact": order},
        "skus": {"exact": ["LIN"]},
        "refund_to": {"exact": "original payment"},
        **arguments,
    }
    call = {"tool": "create_return", "arguments": matchers, "additional_arguments": False}
    return {"kind": "calls", "alternatives": [{"ordered": [call], "additional_calls": False}]}


def fields(order: str = "A-20418", **more: Any) -> dict[str, Any]:
    """Return what the label page's form sends for the same."""
    return {
        "tool": "1",
        "c1.v/order_id": order,
        "c1.v/skus": ["LIN", ""],
        "c1.v/refund_to": '"original payment"',
        "rationale": "She named the card.",
        "seconds": "41",
        **more,
    }
