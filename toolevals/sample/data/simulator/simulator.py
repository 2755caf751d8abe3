"""Simulates the shop behind the sample's tools: customers, orders, goods, and what happens to them.

Each public function is a tool: it is given the world's state and the call's arguments, changes the state as the shop
would, and returns what the tool's output schema says. What the shop refuses is raised.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

State = dict[str, Any]
STATE: State = json.loads(Path(__file__).with_name("shop.json").read_text(encoding="utf-8"))

OPEN = ("placed", "paid", "packed", "shipped")
CHANGEABLE = ("placed", "paid")
# Above it, a person approves.
MOST_REFUNDED = 100
SHORTEST_SUMMARY = 10
SEND_BY = "2026-04-09"


class Refused(Exception):  # noqa: N818 - the agent reads the name
    """The shop does not do that."""


def get_order_status(state: State, order_id: str) -> State:
    """Return an order in full."""
    order = _order(state, order_id)
    items = [{"name": state["products"][item["sku"]]["name"], **item} for item in order["items"]]
    said = ("customer_id", "state", "placed_on", "delivered_on", "shipping", "currency", "paid_with")
    return {"order_id": order_id, **{key: order[key] for key in said}, "items": items, "total": _total(order)}


def get_order_history(state: State, customer_id: str, status: str = "", limit: int = 20, **days: str) -> State:
    """Return a customer's orders between the days `from` and `to`, the newest first."""
    unknown = set(days) - {"from", "to"}
    if unknown:
        raise Refused(f"400: unknown argument {min(unknown)}")
    _customer(state, customer_id)
    found = [
        (order_id, order)
        for order_id, order in state["orders"].items()
        if order["customer_id"] == customer_id
        and days.get("from", "") <= order["placed_on"] <= days.get("to", "9999")
        and status in ("", _coarse(state, order_id))
    ]
    found.sort(key=lambda pair: (pair[1]["placed_on"], pair[0]), reverse=True)
    orders = [
        {
            "order_id": order_id,
            "placed_on": order["placed_on"],
            "state": _coarse(state, order_id),
            "items": [item["sku"] for item in order["items"]],
            "total": _total(order),
            "currency": order["currency"],
        }
        for order_id, order in found[:limit]
    ]
    return {"orders": orders, "truncated": len(found) > limit}


def get_shipping_eta(state: State, order_id: str, parcel: int | None = None) -> State:
    """Return where an order's parcels are."""
    parcels = [each for each in _order(state, order_id)["parcels"] if parcel in (None, each["parcel"])]
    if not parcels:
        raise Refused(f"404: order {order_id} has no such parcel yet")
    return {"parcels": parcels}


def get_customer(state: State, customer_id: str = "", email: str = "") -> State:
    """Return a customer by number or by e-mail address."""
    if not customer_id:
        customer_id = next((key for key, one in state["customers"].items() if email and one["email"] == email), email)
    return {"customer_id": customer_id, **_customer(state, customer_id)}


def search_kb(state: State, query: str, topic: str = "", language: str = "en") -> State:
    """Return the articles that share a word with the query; they are in English, whatever `language` says."""
    words = set(query.lower().split())
    articles = [
        {"title": each["title"], "text": each["text"]}
        for each in state["articles"]
        if topic in ("", each["topic"]) and (topic or words & set(f"{each['title']} {each['text']}".lower().split()))
    ]
    return {"articles": articles if language else []}


def search_products(
    state: State,
    *,
    query: str,
    category: str = "",
    max_price: float | None = None,
    colours: tuple[str, ...] = (),
    sizes: tuple[str, ...] = (),
    in_stock_only: bool = False,
) -> State:
    """Return the goods that fit."""
    words = query.lower().split()
    products = [
        {"sku": sku, "name": one["name"], "price": one["price"], "colour": one["colour"], "sizes": [one["size"]]}
        for sku, one in state["products"].items()
        if (category == one["category"] or (not category and any(word in one["name"].lower() for word in words)))
        and (max_price is None or one["price"] <= max_price)
        and (not colours or one["colour"] in colours)
        and (not sizes or one["size"] in sizes)
        and (not in_stock_only or one["stock"]["online"])
    ]
    return {"products": products}


def check_stock(state: State, sku: str, store: str = "online", quantity: int = 1) -> State:
    """Return how many of an article a store has, and when more come if that is fewer than wanted."""
    if sku not in state["products"]:
        raise Refused(f"404: no article {sku}")
    product = state["products"][sku]
    available = product["stock"][store]
    restock = product["restock_on"] if available < quantity else None
    return {"sku": sku, "store": store, "available": available, "restock_on": restock}


def update_address(state: State, order_id: str, address: State) -> State:
    """Change where an order goes, until it is packed."""
    order = _changeable(state, order_id)
    order["address"] = dict(address)
    return {"order_id": order_id, "changed": True}


def cancel_order(state: State, order_id: str, reason: str) -> State:
    """Cancel an order, until it is packed."""
    order = _changeable(state, order_id)
    order["state"] = "cancelled"
    order["cancelled_because"] = reason
    return {"order_id": order_id, "cancelled": True, "money_back_on": "2026-03-17"}


def issue_refund(
    state: State, *, order_id: str, amount: float, currency: str, reason: str, refund_to: str = "original_payment"
) -> State:
    """Pay money back, up to what the order cost."""
    order = _order(state, order_id)
    paid = sum(one["amount"] for one in state["refunds"].values() if one["order_id"] == order_id)
    if currency != order["currency"]:
        raise Refused(f"400: the order's currency is {order['currency']}")
    if amount > MOST_REFUNDED:
        raise Refused(f"403: refunds above {MOST_REFUNDED}.00 {currency} need the approval of a person")
    if paid + amount > _total(order):
        raise Refused(f"400: only {_total(order) - paid:.2f} {currency} of the order are left to pay back")
    refund_id = f"F-{len(state['refunds']) + 1}"
    said = {"order_id": order_id, "amount": amount, "currency": currency, "reason": reason, "refund_to": refund_to}
    state["refunds"][refund_id] = said
    if refund_to == "store_credit":
        state["customers"][order["customer_id"]]["store_credit"] += amount
    return {"refund_id": refund_id, "amount": amount, "currency": currency, "paid_with": order["paid_with"]}


def create_return(
    state: State,
    *,
    order_id: str,
    items: list[State],
    refund_to: str,
    pickup: State | None = None,
    note: str = "",
) -> State:
    """Begin the return of goods that were delivered; `note` is for the warehouse."""
    order = _order(state, order_id)
    if order["state"] != "delivered":
        raise Refused(f"409: order {order_id} is {order['state']}, not delivered")
    ordered = {item["sku"]: item["quantity"] for item in order["items"]}
    for item in items:
        if item["quantity"] > ordered.get(item["sku"], 0):
            raise Refused(f"400: the order has {ordered.get(item['sku'], 0)} of {item['sku']}")
    return_id = f"R-{len(state['returns']) + 1}"
    # Free words, such as the note, stay out of the state: they differ from agent to agent and are not wrong for it.
    said = {"order_id": order_id, "items": items, "refund_to": refund_to, "pickup": pickup}
    state["returns"][return_id] = said
    url = f"https://returns.example.com/{return_id}.pdf"
    return {"return_id": return_id, "label_url": url, "send_by": SEND_BY}


def escalate_to_human(
    state: State, reason: str, summary: str, priority: str = "normal", callback_at: str | None = None
) -> State:
    """Hand the conversation to a person."""
    if len(summary) < SHORTEST_SUMMARY:
        raise Refused("400: the summary is too short")
    ticket = f"T-{len(state['tickets']) + 1}"
    state["tickets"][ticket] = {"reason": reason, "priority": priority, "callback_at": callback_at}
    return {"ticket": ticket, "waiting_minutes": 5 if priority == "high" else 25}


def _order(state: State, order_id: str) -> State:
    if order_id not in state["orders"]:
        raise Refused(f"404: no order {order_id}")
    found: State = state["orders"][order_id]
    return found


def _customer(state: State, customer_id: str) -> State:
    if customer_id not in state["customers"]:
        raise Refused(f"404: no customer {customer_id}")
    found: State = state["customers"][customer_id]
    return found


def _changeable(state: State, order_id: str) -> State:
    order = _order(state, order_id)
    if order["state"] not in CHANGEABLE:
        raise Refused(f"409: order {order_id} is {order['state']} and cannot be changed any more")
    return order


def _coarse(state: State, order_id: str) -> str:
    """Return an order's state as the history names it."""
    if any(one["order_id"] == order_id for one in state["returns"].values()):
        return "returned"
    known = state["orders"][order_id]["state"]
    return "open" if known in OPEN else str(known)


def _total(order: State) -> float:
    return float(round(sum(item["price"] * item["quantity"] for item in order["items"]) + order["shipping"], 2))
