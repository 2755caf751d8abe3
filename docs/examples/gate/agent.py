"""Plays an agent to try the examples with: it looks for words. Put your own in its place.

`python agent.py cases.jsonl > answers.jsonl` writes each example with what the agent does of it, for a gate without
a server; with `--bare` only what it does, for a server that has the examples.
"""

import json
import re
import sys
from pathlib import Path


def answer(example: dict) -> dict:
    """Return the prediction of one example: calls, or an answer."""
    says = example["input"]["messages"][-1]["content"]
    order = re.search(r"A-\d+", says)
    if order is None:
        return {"answer": "You are welcome."}
    tool = "cancel_order" if "cancel" in says else "get_order_status"
    return {"tool_calls": [{"name": tool, "arguments": {"order_id": order[0]}}]}


if __name__ == "__main__":
    for line in Path(sys.argv[1]).read_text().splitlines():
        row = json.loads(line)
        kept = {"id": row["id"]} if "--bare" in sys.argv else row
        sys.stdout.write(json.dumps({**kept, **answer(row)}) + "\n")
