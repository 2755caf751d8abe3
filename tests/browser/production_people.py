"""People and an agent of the test of the whole loop: what they say to customers of an airline and of a shop."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx

from tests.agents.chat_server import calls, says

# A user id, as the policies of both desks ask for it, and an order of the shop.
_USER = re.compile(r"\b[a-z]+_[a-z]+_\d{4}\b")
_ORDER = re.compile(r"#W\d{7}")
_MAIL = re.compile(r"[\w.]+@[\w.]+\w")


def due_call(request: str) -> tuple[str, dict[str, str]] | None:
    """Return the call that a careful person finds due for what a customer writes; None where none is."""
    if found := _USER.search(request):
        return "get_user_details", {"user_id": found.group()}
    if found := _MAIL.search(request):
        return "find_user_id_by_email", {"email": found.group()}
    if found := _ORDER.search(request):
        return "get_order_details", {"order_id": found.group()}
    return None


def expectation(request: str, tools: set[str]) -> dict[str, Any]:
    """Return the same as a label."""
    due = due_call(request)
    if due is None or due[0] not in tools:
        return {"kind": "no_call", "why": "clarify"}
    arguments = {name: {"exact": value} for name, value in due[1].items()}
    return {"kind": "calls", "alternatives": [{"ordered": [{"tool": due[0], "arguments": arguments}]}]}


def agent(body: dict[str, Any]) -> dict[str, Any]:
    """Answer as today's agent: it looks a customer up, but takes an order's number for a reason to think."""
    message = body["messages"][-1]
    if message["role"] != "user":
        return says("That is done.")
    tools = {tool["function"]["name"] for tool in body["tools"]}
    due = due_call(message["content"])
    if due is None or due[0] not in tools:
        return calls(("think", json.dumps({"thought": "What does the customer want?"})))
    return calls((due[0], json.dumps(due[1])))


class Reviewer:
    """A person who labels by REST."""

    def __init__(self, url: str, token: str, *, hasty: bool) -> None:
        self.http = httpx.Client(
            base_url=f"{url}/api/v1/projects/shop/", headers={"Authorization": f"Bearer {token}"}, timeout=30
        )
        # Who is hasty says the opposite of every fourth of what they see.
        self.hasty = hasty
        self.seen = 0

    def label(self, most: int = 10_000) -> int:
        """Label what waits, so many at most; return how many were labelled."""
        for done in range(most):
            answer = self.http.post("claims/", json={})
            if answer.status_code == 204:
                return done
            assert answer.status_code == 200, answer.text
            self._label(answer.json())
        return most

    def _label(self, claim: dict[str, Any]) -> None:
        request = claim["input"]["messages"][-1]["content"]
        said = expectation(request, {tool["name"] for tool in claim["tools"]})
        self.seen += 1
        if self.hasty and self.seen % 4 == 0:
            said = {"kind": "some_call"} if said["kind"] == "no_call" else {"kind": "no_call", "why": "clarify"}
        answer = self.http.post(f"claims/{claim['id']}/label/", json={"expectation": said, "rationale": "As asked."})
        assert answer.status_code == 201, answer.text


def adjudicate(person: Reviewer) -> int:
    """Decide what two people said differently, by what a careful person finds due; return how many were decided."""
    waiting = person.http.get("adjudications/").json()["results"]
    for each in waiting:
        sides = [side["expectation"] for side in person.http.get(f"adjudications/{each['id']}/").json()["sides"]]
        said = min(sides, key=lambda side: ("calls", "no_call", "some_call").index(side["kind"]))
        answer = person.http.post(f"adjudications/{each['id']}/", json={"expectation": said, "rationale": "It is due."})
        assert answer.status_code == 201, answer.text
    return len(waiting)
