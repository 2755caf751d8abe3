"""A conversation of many turns with large results, and tools of one prefix, as hard days of labelling have them."""

from __future__ import annotations

import json
from typing import Any

PREFIX = "acme_enterprise_resource_planning_service_v2_"


def long_input(turns: int, rows: int = 12) -> dict[str, Any]:
    """Return an input of so many requests, each with a call and a result of so many rows."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Today is Tuesday 10 March 2026."}]
    for turn in range(turns):
        words = " ".join(f"Order A-{turn:03}{place:02} of {place + 3} May came late." for place in range(rows))
        call = {
            "id": f"c{turn}",
            "type": "function",
            "function": {"name": "get_order", "arguments": json.dumps({"order_id": f"A-{turn:03}00"})},
        }
        result = [
            {"order_id": f"A-{turn:03}{place:02}", "sku": f"SKU-{turn}-{place}", "total": 10 + place, "city": "Graz"}
            for place in range(rows)
        ]
        messages += [
            {"role": "user", "content": f"Request {turn}. {words}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": json.dumps(result)},
        ]
    return {"messages": [*messages, {"role": "user", "content": "Send the last one back, please."}]}


def many_tools(count: int) -> list[dict[str, Any]]:
    """Return so many tools whose names begin alike and differ at the end."""
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    things = ("invoice", "order", "payment", "return", "shipment", "supplier")
    acts = ("approve", "archive", "cancel", "create", "list")
    names = [f"{thing}_{act}_{place}" for place in range(count) for thing in things for act in acts][:count]
    return [
        {
            "name": f"{PREFIX}{name}",
            "description": f"Does {name.replace('_', ' ')} in the resource planning service of the enterprise, for one"
            " record that is named by its id, and answers with the record as it is afterwards.",
            "input_schema": schema,
        }
        for name in names
    ]
