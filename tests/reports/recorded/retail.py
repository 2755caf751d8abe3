"""Simulates the shop of the recorded retail runs, a small one: tools as the recorded results show them.

A simulator's code: every tool takes the state, of `orders`, `products` and `users`, and returns text. What a tool
refuses it says in its text, which begins with "Error", and changes nothing.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_ADDRESS = ("address1", "address2", "city", "state", "country", "zip")


class _RefusedError(Exception):
    """A tool's answer in place of a result."""


def _found(table: Any, key: Any, what: Any) -> Any:
    if key not in table:
        raise _RefusedError(f"Error: {what} not found")
    return table[key]


def _order_in(state: Any, order_id: Any, status: Any, refusal: Any) -> Any:
    order = _found(state["orders"], order_id, "order")
    if order["status"] != status:
        raise _RefusedError(f"Error: {refusal}")
    return order


def _method(state: Any, order: Any, payment_method_id: Any) -> Any:
    return _found(state["users"][order["user_id"]]["payment_methods"], payment_method_id, "payment method")


def _paid(kind: Any, amount: Any, method: Any) -> Any:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method}


def _credit(method: Any, amount: Any) -> Any:
    """Put money onto a gift card; other ways to pay have no balance."""
    if method["source"] == "gift_card":
        method["balance"] = round(method["balance"] + amount, 2)


def _require_balance(method: Any, amount: Any, what: Any) -> Any:
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise _RefusedError(f"Error: insufficient gift card balance to pay for the {what}")


def _swaps(state: Any, order: Any, item_ids: Any, new_item_ids: Any) -> Any:
    """Return each item with the variant that takes its place."""
    ordered = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > ordered.count(item_id):
            raise _RefusedError(f"Error: {item_id} not found")
    if len(item_ids) != len(new_item_ids):
        raise _RefusedError("Error: the number of items to be exchanged should match")
    swaps = []
    for old, new in zip(item_ids, new_item_ids, strict=True):
        item = next(item for item in order["items"] if item["item_id"] == old)
        variant = state["products"][item["product_id"]]["variants"].get(new)
        if variant is None or not variant["available"]:
            raise _RefusedError(f"Error: new item {new} not found or available")
        swaps.append((item, variant))
    return swaps


def _price_difference(swaps: Any) -> Any:
    return sum(variant["price"] - item["price"] for item, variant in swaps)


def find_user_id_by_email(state: Any, email: Any) -> Any:
    for user_id, user in state["users"].items():
        if user["email"].lower() == email.lower():
            return user_id
    raise _RefusedError("Error: user not found")


def find_user_id_by_name_zip(state: Any, first_name: Any, last_name: Any, zip: Any) -> Any:  # noqa: A002 (the tool's own word)
    for user_id, user in state["users"].items():
        name = user["name"]
        same_name = (name["first_name"].lower(), name["last_name"].lower()) == (first_name.lower(), last_name.lower())
        if same_name and user["address"]["zip"] == zip:
            return user_id
    raise _RefusedError("Error: user not found")


def get_user_details(state: Any, user_id: Any) -> Any:
    return _found(state["users"], user_id, "user")


def get_order_details(state: Any, order_id: Any) -> Any:
    return _found(state["orders"], order_id, "order")


def get_product_details(state: Any, product_id: Any) -> Any:
    return _found(state["products"], product_id, "product")


def list_all_product_types(state: Any) -> Any:
    return dict(sorted((product["name"], product["product_id"]) for product in state["products"].values()))


def cancel_pending_order(state: Any, order_id: Any, reason: Any) -> Any:
    order = _order_in(state, order_id, "pending", "non-pending order cannot be cancelled")
    if reason not in ("no longer needed", "ordered by mistake"):
        raise _RefusedError("Error: invalid reason")
    for payment in list(order["payment_history"]):
        order["payment_history"].append(_paid("refund", payment["amount"], payment["payment_method_id"]))
        _credit(_method(state, order, payment["payment_method_id"]), payment["amount"])
    order["status"], order["cancel_reason"] = "cancelled", reason
    return order


def modify_pending_order_address(state: Any, /, order_id: Any, **address: Any) -> Any:
    order = _order_in(state, order_id, "pending", "non-pending order cannot be modified")
    order["address"] = {part: address[part] for part in _ADDRESS}
    return order


def modify_open_order_address(state: Any, /, order_id: Any, **address: Any) -> Any:
    """The second benchmark's: an order whose items were modified is still open."""
    order = _found(state["orders"], order_id, "order")
    if not order["status"].startswith("pending"):
        raise _RefusedError("Error: non-pending order cannot be modified")
    order["address"] = {part: address[part] for part in _ADDRESS}
    return order


def modify_user_address(state: Any, /, user_id: Any, **address: Any) -> Any:
    user = _found(state["users"], user_id, "user")
    user["address"] = {part: address[part] for part in _ADDRESS}
    return user


def modify_pending_order_items(
    state: Any, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> Any:
    order = _order_in(state, order_id, "pending", "non-pending order cannot be modified")
    swaps = _swaps(state, order, item_ids, new_item_ids)
    difference = _price_difference(swaps)
    method = _method(state, order, payment_method_id)
    _require_balance(method, difference, "new item")
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_paid(kind, abs(difference), payment_method_id))
    _credit(method, -difference)
    for item, variant in swaps:
        item.update({key: variant[key] for key in ("item_id", "price", "options")})
    order["status"] = "pending (item modified)"
    return order


def modify_pending_order_payment(state: Any, order_id: Any, payment_method_id: Any) -> Any:
    order = _order_in(state, order_id, "pending", "non-pending order cannot be modified")
    method = _method(state, order, payment_method_id)
    payments = order["payment_history"]
    if len(payments) > 1 or payments[0]["transaction_type"] != "payment":
        raise _RefusedError("Error: there should be exactly one payment for a pending order")
    before, amount = payments[0]["payment_method_id"], payments[0]["amount"]
    if before == payment_method_id:
        raise _RefusedError("Error: the new payment method should be different from the current one")
    _require_balance(method, amount, "order")
    payments += [_paid("payment", amount, payment_method_id), _paid("refund", amount, before)]
    _credit(method, -amount)
    _credit(_method(state, order, before), amount)
    return order


def exchange_delivered_order_items(
    state: Any, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> Any:
    order = _order_in(state, order_id, "delivered", "non-delivered order cannot be exchanged")
    difference = round(_price_difference(_swaps(state, order, item_ids, new_item_ids)), 2)
    _require_balance(_method(state, order, payment_method_id), difference, "price difference")
    order["status"] = "exchange requested"
    order["exchange_items"], order["exchange_new_items"] = sorted(item_ids), sorted(new_item_ids)
    order["exchange_payment_method_id"], order["exchange_price_difference"] = payment_method_id, difference
    return order


def return_delivered_order_items(state: Any, order_id: Any, item_ids: Any, payment_method_id: Any) -> Any:
    order = _order_in(state, order_id, "delivered", "non-delivered order cannot be returned")
    _method(state, order, payment_method_id)
    paid_with = order["payment_history"][0]["payment_method_id"]
    if "gift_card" not in payment_method_id and payment_method_id != paid_with:
        raise _RefusedError("Error: payment method should be either the original payment method or a gift card")
    ordered = [item["item_id"] for item in order["items"]]
    if any(item_ids.count(item_id) > ordered.count(item_id) for item_id in item_ids):
        raise _RefusedError("Error: some item not found")
    order["status"] = "return requested"
    order["return_items"], order["return_payment_method_id"] = sorted(item_ids), payment_method_id
    return order


def calculate(state: Any, expression: Any) -> Any:
    return str(round(float(_worth(ast.parse(expression, mode="eval").body)), 2))


def _worth(node: Any) -> Any:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_worth(node.left), _worth(node.right))
    return ast.literal_eval(node)


def transfer_to_human_agents(state: Any, summary: Any) -> Any:
    return "Transfer successful"


def think(state: Any, thought: Any) -> Any:
    return ""


def _telling(tool: Callable[..., Any]) -> Callable[..., str]:
    """Return a tool that answers in text, refusals too. Addresses have a `state` of their own."""

    def told(state: Any, /, **arguments: Any) -> str:
        try:
            result = tool(state, **arguments)
        except _RefusedError as refusal:
            return str(refusal)
        return result if isinstance(result, str) else json.dumps(result)

    return told


TOOLS: Mapping[str, Callable[..., Any]] = {
    tool.__name__: _telling(tool)
    for tool in (
        calculate,
        cancel_pending_order,
        exchange_delivered_order_items,
        find_user_id_by_email,
        find_user_id_by_name_zip,
        get_order_details,
        get_product_details,
        get_user_details,
        list_all_product_types,
        modify_pending_order_address,
        modify_pending_order_items,
        modify_pending_order_payment,
        modify_user_address,
        return_delivered_order_items,
        think,
        transfer_to_human_agents,
    )
}
# The tools of the second benchmark's shop.
TOOLS_2: Mapping[str, Callable[..., Any]] = {
    **TOOLS,
    "modify_pending_order_address": _telling(modify_open_order_address),
}
