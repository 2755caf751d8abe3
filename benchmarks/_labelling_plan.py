"""Lists the keys of a practised person for the sample's open places, and what they mean by them.

A step is a key as Playwright names it, `*3` after it for three times, or `type:TEXT`, which is typed. Each label is
handed in by Ctrl and Enter.
"""

from __future__ import annotations

from typing import Any, Final

# The sample's people who have something left to label, and how many places.
LABELLED_BY: Final = {"omar@shop.example": 26, "lena@shop.example": 14}


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    given = {"tool": tool, "arguments": arguments, "additional_arguments": False}
    return {"kind": "calls", "alternatives": [{"ordered": [given], "additional_calls": False}]}


def _none(why: str) -> dict[str, Any]:
    return {"kind": "no_call", "why": why}


def _exactly(**values: Any) -> dict[str, Any]:
    return {name: {"exact": value} for name, value in values.items()}


def _return(order_id: str, **item: Any) -> dict[str, Any]:
    items = {"items": [{"fields": _exactly(**item)}]}
    return _call("create_return", **_exactly(order_id=order_id), items=items, refund_to={"exact": "original_payment"})


# What nobody has labelled before, or what the form says in another way than Lena's label.
MEANT: Final[dict[str, dict[str, Any]]] = {
    "ex-0162": _return("A-20418", sku="LIN-SH-M-NVY", quantity=1, condition="damaged"),
    "ex-0166": _call("get_shipping_eta", **_exactly(order_id="A-20281")),
    "ex-0167": _call("get_shipping_eta", **_exactly(order_id="A-20557")),
    "ex-0168": _none("greeting"),
    "ex-0169": _return("A-20481", sku="LIN-SH-L-NVY", quantity=1, condition="unworn"),
    "ex-0170": _call("get_customer", **_exactly(customer_id="C-6038")),
    "ex-0171": _call("get_shipping_eta", **_exactly(order_id="A-20771")),
    "ex-0172": _call("get_order_history", customer_id={"exact": "C-1216"}, **{"from": {"exact": "2026-01-01"}}),
    "ex-0173": _call("get_order_status", **_exactly(order_id="A-20318")),
    "ex-0174": _call("search_products", query={"contains": "trousers"}),
    "ex-0175": _none("in-model fact"),
    "ex-0176": _none("refusal"),
    "ex-0177": _call("search_kb", query={"contains": "points"}),
    "ex-0178": _call(
        "search_products", query={"key_only": True}, **_exactly(category="knitwear", max_price=45, sizes=["XL"])
    ),
    "ex-0179": _call("get_order_status", **_exactly(order_id="A-20188")),
}

# Why no call is right is chosen by arrows, and so is a value of the conversation that fits.
PLAN: Final[dict[str, str]] = {
    "ex-0154": "2 ArrowDown Enter*3 ArrowDown*2",
    "ex-0155": "7 ArrowDown Enter type:v",
    "ex-0156": "6 Escape m type:anyt Enter type:k Tab Space Enter*3 type:L Enter Tab Space Enter Space Tab Space",
    "ex-0157": "4 Enter ArrowDown",
    "ex-0158": "0 ArrowDown*3",
    "ex-0159": "5 Escape m type:anyt Enter type:w Tab Space",
    "ex-0160": "0 Space",
    "ex-0161": "1 ArrowDown",
    "ex-0162": "/ type:ret Enter ArrowDown Tab*2 Enter ArrowDown Enter 1 Enter ArrowDown*2 Enter Space",
    "ex-0163": "1 ArrowDown",
    "ex-0164": "0 ArrowDown",
    "ex-0165": "3 ArrowDown",
    "ex-0166": "3 ArrowDown",
    "ex-0167": "3 ArrowDown",
    "ex-0168": "0 Space",
    "ex-0169": "/ type:ret Enter ArrowDown Tab*2 Enter ArrowDown Enter 1 Enter Space Enter Space",
    "ex-0170": "4 ArrowDown",
    "ex-0171": "3 ArrowDown",
    "ex-0172": "2 ArrowDown Enter type:2026-01-01",
    "ex-0173": "1 ArrowDown",
    "ex-0174": "6 type:trousers Escape m type:c",
    "ex-0175": "0 ArrowDown*2",
    "ex-0176": "0 ArrowDown*3",
    "ex-0177": "5 type:points Escape m type:c",
    "ex-0178": "6 Escape m type:anyt Enter type:k Enter type:45 Enter*2 type:XL",
    "ex-0179": "1 ArrowDown",
}
