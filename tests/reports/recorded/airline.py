"""The world behind the recorded airline runs: reservations, users, flights, and what the writing tools do to them.

Written after the tools' descriptions and the errors that recorded runs show. What tools refuse is raised; tools that
only read change nothing, and answer nothing here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

State = dict[str, Any]
_KEPT = Path(__file__).with_name("db.json")
STATE: State = json.loads(_KEPT.read_text(encoding="utf-8")) if _KEPT.exists() else {}
NEW = ("HATHAT", "HATHAU", "HATHAV")
BAG, INSURANCE = 50, 30


class Refused(Exception):  # noqa: N818 - the agent reads the name
    """The airline's system does not do that."""


def book_reservation(state: State, user_id: str, **said: Any) -> State:
    """Book flights for up to five people, paid to the dollar."""
    user = _user(state, user_id)
    count = len(said["passengers"])
    flights = [_flight(state, each, said["cabin"], count) for each in said["flights"]]
    price = count * (sum(each["price"] for each in flights) + INSURANCE * (said["insurance"] == "yes"))
    price += BAG * said["nonfree_baggages"]
    payments = said["payment_methods"]
    for payment in payments:
        _require_money(user, payment["payment_id"], payment["amount"])
    if sum(payment["amount"] for payment in payments) != price:
        raise Refused(f"Payment amount does not add up, total price is {price}")
    for payment in payments:
        _pay(user, payment["payment_id"], payment["amount"])
    name = next(name for name in NEW if name not in state["reservations"])
    kept = ("origin", "destination", "flight_type", "cabin", "passengers", "total_baggages", "nonfree_baggages")
    state["reservations"][name] = {
        "reservation_id": name,
        "user_id": user_id,
        **{key: said[key] for key in kept},
        "flights": flights,
        "payment_history": payments,
        "insurance": said["insurance"],
    }
    user["reservations"].append(name)
    return {"reservation_id": name}


def cancel_reservation(state: State, reservation_id: str) -> State:
    """Cancel a whole reservation and give the money back."""
    reservation = _reservation(state, reservation_id)
    back = [{**payment, "amount": -payment["amount"]} for payment in reservation["payment_history"]]
    reservation["payment_history"].extend(back)
    reservation["status"] = "cancelled"
    return {"status": "cancelled"}


def send_certificate(state: State, user_id: str, amount: int) -> str:
    """Give a user a certificate."""
    methods = _user(state, user_id)["payment_methods"]
    number = sum(name.startswith("certificate_32") for name in methods)
    name = f"certificate_322132{number}"
    methods[name] = {"source": "certificate", "amount": amount, "id": name}
    return name


def transfer_to_human_agents(state: State, summary: str) -> str:
    """End the conversation."""
    return "Transfer successful"


def update_reservation_baggages(
    state: State, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
) -> State:
    """Set the numbers of bags; further ones that are not free are paid."""
    reservation = _reservation(state, reservation_id)
    _charge(state, reservation, payment_id, BAG * max(0, nonfree_baggages - reservation["nonfree_baggages"]))
    reservation |= {"total_baggages": total_baggages, "nonfree_baggages": nonfree_baggages}
    return {"total_baggages": total_baggages}


def update_reservation_flights(
    state: State, reservation_id: str, cabin: str, flights: list[State], payment_id: str
) -> State:
    """Set cabin and flights; flights that stay in the same cabin keep their price."""
    reservation = _reservation(state, reservation_id)
    count = len(reservation["passengers"])
    kept = {(each["flight_number"], each["date"]): each for each in reservation["flights"]}
    same = reservation["cabin"] == cabin
    new = [
        kept[place]
        if same and (place := (each["flight_number"], each["date"])) in kept
        else _flight(state, each, cabin, count)
        for each in flights
    ]
    price = sum(each["price"] for each in new) - sum(each["price"] for each in reservation["flights"])
    _charge(state, reservation, payment_id, price * count)
    reservation |= {"flights": new, "cabin": cabin}
    return {"cabin": cabin}


def update_reservation_passengers(state: State, reservation_id: str, passengers: list[State]) -> State:
    """Set who flies; never how many."""
    reservation = _reservation(state, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise Refused("Number of passengers does not match")
    reservation["passengers"] = passengers
    return {"passengers": len(passengers)}


def _reads(state: State, **said: Any) -> str:
    return ""


get_user_details = get_reservation_details = get_flight_status = list_all_airports = _reads
search_direct_flight = search_onestop_flight = calculate = think = _reads
READING = (
    "get_user_details",
    "get_reservation_details",
    "get_flight_status",
    "list_all_airports",
    "search_direct_flight",
    "search_onestop_flight",
    "calculate",
    "think",
)
WRITING = (
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "transfer_to_human_agents",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
TOOLS = {name: globals()[name] for name in (*READING, *WRITING)}


def _user(state: State, name: str) -> State:
    if name not in state["users"]:
        raise Refused(f"User {name} not found")
    found: State = state["users"][name]
    return found


def _reservation(state: State, name: str) -> State:
    if name not in state["reservations"]:
        raise Refused(f"Reservation {name} not found")
    found: State = state["reservations"][name]
    return found


def _flight(state: State, wanted: State, cabin: str, count: int) -> State:
    number, date = wanted["flight_number"], wanted["date"]
    if number not in state["flights"]:
        raise Refused(f"Flight {number} not found")
    flight = state["flights"][number]
    if date not in flight["dates"]:
        raise Refused(f"Flight {number} not found on date {date}")
    day = flight["dates"][date]
    if day["status"] != "available":
        raise Refused(f"Flight {number} not available on date {date}")
    if day["available_seats"][cabin] < count:
        raise Refused(f"Not enough seats on flight {number}")
    place = {key: flight[key] for key in ("origin", "destination")}
    return {**place, "flight_number": number, "date": date, "price": day["prices"][cabin]}


def _charge(state: State, reservation: State, payment_id: str, price: int) -> None:
    """Take the money, or give it back where it is negative, and write it down."""
    user = _user(state, reservation["user_id"])
    method = _method(user, payment_id)
    if method["source"] == "certificate":
        raise Refused("Certificate cannot be used to update reservation")
    if price > 0:
        _require_money(user, payment_id, price)
    if price:
        _pay(user, payment_id, price)
        reservation["payment_history"].append({"payment_id": payment_id, "amount": price})


def _method(user: State, payment_id: str) -> State:
    if payment_id not in user["payment_methods"]:
        raise Refused(f"Payment method {payment_id} not found")
    found: State = user["payment_methods"][payment_id]
    return found


def _require_money(user: State, payment_id: str, amount: int) -> None:
    method = _method(user, payment_id)
    if method["source"] in ("gift_card", "certificate") and method["amount"] < amount:
        raise Refused(f"Not enough balance in payment method {payment_id}")


def _pay(user: State, payment_id: str, amount: int) -> None:
    method = _method(user, payment_id)
    if method["source"] == "gift_card":
        method["amount"] -= amount
    elif method["source"] == "certificate":
        del user["payment_methods"][payment_id]
