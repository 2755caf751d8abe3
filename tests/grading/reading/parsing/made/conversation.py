"""The conversation that every library is made to hold: two turns with parallel calls and a failing tool."""

SYSTEM = "Answer briefly."
FIRST = "Where is A-1, and how many of sku 7 are there?"
SECOND = "And A-2?"
LOOKING = "I will look."
ANSWERS = ("A-1 was sent. Nobody knows sku 7.", "A-2 was lost.")
# The calls of each turn: id, tool, arguments.
CALLS = (
    (("c1", "get_order", {"id": "A-1"}), ("c2", "get_stock", {"sku": 7})),
    (("c3", "get_order", {"id": "A-2"}),),
)
ORDERS = {"A-1": {"state": "sent"}, "A-2": {"state": "lost"}}
FAILURE = "no such sku"


class NoSuchSkuError(ValueError):
    """What the tool get_stock raises."""


if __name__ == "__main__":
    import json

    print(  # noqa: T201 (what the script for JavaScript reads)
        json.dumps({
            "system": SYSTEM, "questions": [FIRST, SECOND], "looking": LOOKING, "answers": ANSWERS, "calls": CALLS,
            "orders": ORDERS, "failure": FAILURE,
        })
    )  # fmt: skip
