"""A server that keeps to no protocol: each tool does one thing wrong. It speaks over its pipes."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from typing import Any

LONG = 17 * 1024 * 1024


def write(line: str) -> None:
    """Write a line, whatever it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say(message: Any) -> None:
    """Write a message."""
    write(json.dumps(message))


def answer(identifier: Any, text: str = "fine") -> None:
    """Write the result of a call."""
    say({"jsonrpc": "2.0", "id": identifier, "result": {"content": [{"type": "text", "text": text}]}})


def call(identifier: Any, name: str) -> None:
    """Do what the tool's name says."""
    if name == "die":
        os._exit(7)
    elif name == "flood":
        write('{"jsonrpc": "2.0", "id": 1, "result": "' + "x" * LONG + '"}')
    elif name == "garbage":
        write("Traceback (most recent call last):\n\x00\xff{]")
        answer(identifier)
    elif name == "nan":
        write(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": {"content": [], "value": math.nan}}))
    elif name == "late":
        time.sleep(0.5)
        answer(identifier)
    elif name == "deaf":
        os.close(0)
        answer(identifier)
        time.sleep(60)
    elif name == "orphan":
        # It holds the pipes when its parent has gone.
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        os._exit(0)
    else:
        answer(identifier)


def main() -> None:
    """Answer until the input ends; the tool `stubborn` makes it stay."""
    is_stubborn = False
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/list":
            names = ("die", "flood", "garbage", "nan", "late", "deaf", "orphan", "stubborn", "fine")
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}})
        elif message.get("method") == "tools/call":
            is_stubborn |= message["params"]["name"] == "stubborn"
            call(message["id"], message["params"]["name"])
    if is_stubborn:
        time.sleep(60)


if __name__ == "__main__":
    main()
