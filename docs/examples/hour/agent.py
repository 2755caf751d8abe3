"""Make `predictions.jsonl`: what an agent of Pydantic AI does with each question. Needs `pydantic-ai-slim`.

The agent's loop and its messages are the library's. In the place of a model, a function looks for words.
`python agent.py examples-mended.csv > predictions.jsonl`
"""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

FIRST_WORDS = "Good morning!"


def call_of(question: str) -> tuple[str, dict[str, Any]] | None:
    """Return the tool that the agent calls, with its arguments; None for none."""
    ids = {each[0]: each for each in re.findall(r"\b[BLMR]-\d+", question)}
    said = question.lower()
    if "R" in ids:
        return "cancel_reservation", {"reservation_id": ids["R"]}
    if "B" in ids:
        return "reserve_book", {"book_id": ids["B"], "member_id": ids.get("M", "")}
    if "renew" in said:
        return "renew_loan", {"loan_id": ids["L"]}
    if "L" in ids or "M" in ids:
        return "list_loans", {"member_id": ids.get("M") or ids["L"]}
    if branch := re.search(r"main|north|harbour", said):
        return "get_opening_hours", {"branch": branch[0]}
    if wanted := re.search(r"(?:anything by|books about|got a) (.+?)[.?]$", question):
        return "search_books", {"words": wanted[1]}
    return ("get_opening_hours", {"branch": "main"}) if question == FIRST_WORDS else None


def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer in the place of a model: a call at first, then words."""
    asked = messages[0].parts[-1].content
    call = call_of(str(asked)) if len(messages) == 1 else None
    return ModelResponse(parts=[ToolCallPart(*call) if call else TextPart("Can I help you with anything else?")])


agent = Agent(FunctionModel(respond))


@agent.tool_plain
def search_books(words: str) -> str:
    """Look for books."""
    return f"Nothing about {words}."


@agent.tool_plain
def list_loans(member_id: str) -> str:
    """List what a person has borrowed."""
    return f"No loans of {member_id}."


@agent.tool_plain
def renew_loan(loan_id: str) -> str:
    """Let a person keep a book for longer."""
    return f"{loan_id} is renewed."


@agent.tool_plain
def reserve_book(book_id: str, member_id: str) -> str:
    """Keep a book for a person."""
    return f"{book_id} is kept for {member_id}."


@agent.tool_plain
def cancel_reservation(reservation_id: str) -> str:
    """Give a reservation up."""
    return f"{reservation_id} is cancelled."


@agent.tool_plain
def get_opening_hours(branch: str) -> str:
    """Say when a branch is open."""
    return f"{branch}: from 9 to 18."


if __name__ == "__main__":
    with Path(sys.argv[1]).open(newline="") as file:
        for row in csv.DictReader(file):
            done = agent.run_sync(row["question"])
            line = {"id": row["id"], "messages": json.loads(done.all_messages_json())}
            sys.stdout.write(json.dumps(line) + "\n")
