"""Simulators of our own in the shape of the leaderboard's, and a conversation for them, as `download bfcl` writes them.

The network shows none of the benchmark's to a test. These are as small as they can be, and have its habits: private
methods, a table of a module that becomes part of a state, errors as results, and two classes with a method of one name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolevals.agents.code.leaderboard_turns import FILES, PACKAGE

LONG_CONTEXT = """
MORE_POSTS = {"900": {"text": "an old one", "likes": 0}}
"""
POSTING = f"""
from {PACKAGE}.long_context import MORE_POSTS


class TwitterAPI:
    def __init__(self):
        self._api_description = "posts"

    def _load_scenario(self, scenario, long_context=False):
        self.posts = dict(scenario.get("posts", {{}}))
        self.count = len(self.posts)
        if long_context:
            self.posts.update(MORE_POSTS)

    def authenticate(self, user):
        return {{"authenticated": user}}

    def post(self, text, tags=()):
        self.posts[str(self.count)] = {{"text": text, "likes": 0, "tags": list(tags)}}
        self.count += 1
        return {{"id": self.count - 1}}

    def like(self, number):
        self.posts[str(number)]["likes"] += 1
        return "liked"

    def read(self, number):
        return self.posts[str(number)]

    def forever(self):
        while True:
            pass
"""
TICKETS = """
class TicketAPI:
    def _load_scenario(self, scenario, long_context=False):
        self.open = []

    def authenticate(self, user):
        self.user = user
        return {"welcome": user}
"""
MATHEMATICS = """
import mpmath


class MathAPI:
    def add(self, a, b):
        return {"result": a + b}

    def logarithm(self, value, base, precision):
        try:
            mpmath.mp.dps = precision
            return {"result": mpmath.log(value) / mpmath.log(base)}
        except Exception as error:
            return {"error": str(error)}
"""
OWN = {"long_context": LONG_CONTEXT, "posting_api": POSTING, "ticket_api": TICKETS, "math_api": MATHEMATICS}
SOURCES = {name: OWN.get(name, "") for name in FILES}
QUESTION = {
    "id": "multi_turn_base_0",
    "question": [[{"role": "user", "content": "Post that we are open."}], [{"role": "user", "content": "Like it."}]],
    "initial_config": {"TwitterAPI": {"posts": {"0": {"text": "hello", "likes": 2}}}},
    "involved_classes": ["TwitterAPI", "MathAPI"],
}
GOLD = [["post(text='open', tags=['news'])"], ["like(1)", "read(number=1)"]]
ANSWER = {"id": "multi_turn_base_0", "ground_truth": GOLD}


def data_files() -> dict[str, str]:
    """Return the files of a folder: the question, its answer and the simulators."""
    sources = {f"simulators/{name}.py": text for name, text in SOURCES.items()}
    name = "BFCL_v4_multi_turn_base.json"
    return {name: json.dumps(QUESTION), f"possible_answer/{name}": json.dumps(ANSWER), **sources}


def write_folder(folder: Path) -> Path:
    """Write a folder as `toolevals download bfcl` does, and return it."""
    for name, text in data_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def row(*turns: Any, **others: Any) -> dict[str, Any]:
    """Return a row of the benchmark's results: turns of steps."""
    return {"id": "multi_turn_base_0", "result": list(turns), **others}
