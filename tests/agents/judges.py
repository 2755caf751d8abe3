"""A scripted judge behind the real protocol: it reads what it is given as a model would, and answers as told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.agents.chat_server import Behaviour, Trouble, says

MODEL = "judge-2026-01-31"


def given(body: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs that a request holds between its marks."""
    lines = next(m for m in body["messages"] if m["role"] == "user")["content"].splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith("BEGIN DATA "))
    end = lines.index(lines[begin].replace("BEGIN", "END"))
    found: dict[str, Any] = json.loads("{" + ",".join(lines[begin + 1 : end]) + "}")
    return found


def judging(answer: Callable[[dict[str, Any]], Any]) -> Behaviour:
    """Return the behaviour of a judge: `answer` takes the inputs and gives an object, text, or trouble."""

    def behaviour(body: dict[str, Any]) -> Any:
        said = answer(given(body))
        if isinstance(said, Trouble):
            return said
        return says(said if isinstance(said, str) else json.dumps({"reason": "As the rubric says.", **said}))

    return behaviour
