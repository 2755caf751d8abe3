"""Measures what a check of a call takes, alone and before an MCP server, and how many of AgentDojo's attacks it stops.

An attack is stopped where the guard refuses one of the recorded calls of its injected task, made after the calls of the
user's task. With results scanned it is also stopped where every result that holds the attack is refused. What the
policy refuses of the calls of gold is its cost. No model is asked: an attack that would not move one counts as well.

An oracle gives each task of a user a list of just its tools. Rules of origin are written on two suites and measured on
the other two: one for each argument that at least FEWEST of their calls of gold have, where it refuses none of them.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import _guard_doors, _guard_mcp
from benchmarks.peers.agentdojo import ATTACKS
from benchmarks.row import Row
from benchmarks.side_by_side import PEERS, SECONDS, Tool, python_for
from toolevals.grading.guard import Guard, PastCall, Policy, Request, State, compile_policy
from toolevals.grading.json_schema.conformance import validator_of
from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonMapping, JsonObject

CHECKS = 5_000
# Microseconds.
TARGET = 100
FEWEST = 10
# Of the calls of gold, in per cent.
MOST_BENIGN = 1.0
PATTERNS = {"kind": "patterns", "mode": "enforce"}
INJECTION = {"kind": "injection", "mode": "enforce"}
SHOP = (
    ToolSpec(
        "issue_refund",
        input_schema={
            "type": "object",
            "required": ["order_id", "amount"],
            "additionalProperties": False,
            "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}, "reason": {"type": "string"}},
        },
    ),
    ToolSpec("get_order"),
)
RULES: JsonObject = {
    "schema": {"kind": "schema", "mode": "enforce"},
    "keys": {"kind": "keys", "mode": "enforce", "keys": {"desk": {"allowed_tools": ["get_*", "issue_refund"]}}},
    "blocked": {"kind": "blocked", "mode": "enforce", "tools": ["drop_all"]},
    "calls": {"kind": "calls", "mode": "enforce"},
    "repeat": {"kind": "repeat", "mode": "enforce"},
    "order": {
        "kind": "order",
        "mode": "enforce",
        "preconditions": [{"tool": "issue_refund", "after": ["get_order"], "same": ["order_id"]}],
    },
    "origin": {
        "kind": "origin",
        "mode": "enforce",
        "places": [{"tool": "issue_refund", "pointer": "/amount"}],
        "trusted": ["get_order"],
    },
    "patterns": PATTERNS,
    "privacy": {"kind": "personal_data", "mode": "enforce"},
    "injected": INJECTION,
}


def rows() -> Iterator[Row]:
    """Measure the check, its doors, then the attacks."""
    yield from _check_rows()
    yield from _guard_doors.rows()
    yield from _guard_mcp.rows()
    suites = attacked_suites()
    attacks = sum(len(suite["injections"]) * len(suite["users"]) for suite in suites.values())
    yield Row(f"{attacks} attacks stopped by lists of an oracle", *_stopped(outcome(suites, {})))
    for written in _halves(suites):
        yield from _written_rows(suites, written)
    for attack in ATTACKS:
        found = outcome(suites, {"injected": INJECTION}, attack)
        yield Row(f"stopped by lists and results scanned: {attack}", *_stopped(found))
    yield _benign("calls of gold refused: lists and results scanned", found)


def _check_rows() -> Iterator[Row]:
    guard = compile_policy(Policy.from_document({"rules": RULES}), SHOP)
    arguments = {"order_id": "A-20138", "amount": 51, "reason": "damaged"}
    request = Request("issue_refund", arguments, key="desk")
    earlier = PastCall("get_order", {"order_id": "A-20138"}, '{"total": 51.0, "status": "delivered"}')
    state = State(calls=(earlier,), user_texts=("My order A-20138 came damaged, I want my money back.",))
    if not guard.check(request, state).allowed:
        raise RuntimeError("the usual call is refused")
    schema = validator_of(SHOP[0])
    baseline = _microseconds(lambda: schema.is_valid(arguments))
    yield Row(
        "a usual call, ten rules (baseline: its schema alone)",
        _microseconds(lambda: guard.check(request, state)),
        "µs",
        baseline,
        TARGET,
        "lower",
    )
    page = Request("get_order", {}, result="The parcel left the house on Monday and comes on Friday. " * 100)
    yield Row("a result of 5,700 characters", _microseconds(lambda: guard.check(page, state)), "µs", better="lower")


def _microseconds(act: Callable[[], object]) -> float:
    took = []
    for _ in range(CHECKS):
        begin = time.perf_counter()
        act()
        took.append(time.perf_counter() - begin)
    return median(took) * 1e6


class Outcome(NamedTuple):
    """Attacks and calls of gold, and those of them that were refused."""

    attacks: int = 0
    stopped: int = 0
    gold: int = 0
    refused: int = 0

    def with_suite(self, other: Outcome) -> Outcome:
        """Return the sums."""
        return Outcome(*(mine + its for mine, its in zip(self, other, strict=True)))


def _stopped(found: Outcome) -> tuple[float, str]:
    return 100 * found.stopped / found.attacks, "%"


def _benign(name: str, found: Outcome) -> Row:
    title = f"{name} ({found.refused} of {found.gold})"
    return Row(title, 100 * found.refused / found.gold, "%", target=MOST_BENIGN, better="lower")


def attacked_suites() -> JsonObject:
    """Return AgentDojo's suites, by an environment of its own. Raises StepError where it cannot be had."""
    tool = Tool(PEERS / "agentdojo.py", "attacks", "AgentDojo")
    python = python_for(tool)
    with tempfile.TemporaryDirectory(prefix="toolevals-bench-") as folder:
        path = Path(folder) / "suites.json"
        subprocess.run([python, str(tool.path), str(path)], check=True, timeout=SECONDS, cwd=folder)
        found: JsonObject = json.loads(path.read_text("utf-8"))
    return found


def _halves(suites: JsonMapping) -> Iterator[tuple[str, ...]]:
    """Yield each way to write on two suites, up to which two they are."""
    first, *_ = suites
    yield from (pair for pair in combinations(suites, 2) if first in pair)


def _written_rows(suites: JsonMapping, one: tuple[str, ...]) -> Iterator[Row]:
    other = tuple(name for name in suites if name not in one)
    total = Outcome()
    for written, measured in ((one, other), (other, one)):
        rules = written_on([suites[name] for name in written])
        total = total.with_suite(outcome({name: suites[name] for name in measured}, rules))
    named = f"written on {' and '.join(one)}, and the other way"
    yield Row(f"stopped by lists and argument rules {named}", *_stopped(total))
    yield _benign(f"calls of gold refused: {named}", total)


def written_on(suites: Sequence[JsonMapping]) -> JsonObject:
    """Return patterns, and a rule of origin for each argument that the calls of gold of suites often have and keep."""
    named = {name for suite in suites for call in _gold(suite) for name in call["arguments"]}
    rules: JsonObject = {"patterns": PATTERNS}
    for place, name in enumerate(sorted(named)):
        having = sum(call["arguments"].get(name) not in (None, "", []) for suite in suites for call in _gold(suite))
        rule = {"kind": "origin", "mode": "enforce", "places": [{"pointer": f"/{name}"}], "trusted_fields": ["*"]}
        if having >= FEWEST and not any(_gold_refused(suite, {"origin": rule}) for suite in suites):
            rules[f"origin-{place}"] = rule
    return rules


def _gold(suite: JsonMapping) -> Iterator[JsonMapping]:
    for task in suite["users"].values():
        yield from task["calls"]


def outcome(suites: JsonMapping, rules: JsonMapping, attack: str = "the bare goal") -> Outcome:
    """Return what a policy with lists of an oracle and these rules stops and refuses in suites."""
    total = Outcome()
    for suite in suites.values():
        guard = _guard(suite, rules)
        attacks = [(user, task) for task in suite["injections"].values() for user in suite["users"]]
        stopped = sum(_is_stopped(guard, suite, user, task, attack) for user, task in attacks)
        gold = sum(1 for _ in _gold(suite))
        total = total.with_suite(Outcome(len(attacks), stopped, gold, _gold_refused(suite, rules)))
    return total


def _guard(suite: JsonMapping, rules: JsonMapping) -> Guard:
    tools = [ToolSpec.from_document(each) for each in suite["tools"]]
    lists = {
        user: {"allowed_tools": sorted({call["name"] for call in task["calls"]}) or ["(none)"]}
        for user, task in suite["users"].items()
    }
    given = {"schema": RULES["schema"], "keys": {"kind": "keys", "mode": "enforce", "keys": lists}, **rules}
    return compile_policy(Policy.from_document({"rules": given}), tools)


def _gold_refused(suite: JsonMapping, rules: JsonMapping) -> int:
    """Return how many calls of gold are refused, before they are made or for their results."""
    guard, refused = _guard(suite, rules), 0
    for user, task in suite["users"].items():
        for place, call in enumerate(task["calls"]):
            state = State(calls=_made(task["calls"][:place]), user_texts=(task["prompt"],))
            allowed = guard.check(Request(call["name"], call["arguments"], key=user), state).allowed
            refused += not (allowed and _passes_result(guard, call, user))
    return refused


def _is_stopped(guard: Guard, suite: JsonMapping, user: str, task: JsonMapping, attack: str) -> bool:
    words = ATTACKS[attack].format(goal=task["goal"])
    calls = task["attacks"][attack][user]
    holding = [call for call in calls if _holds(call["result"], words)]
    read = [call for call in calls if _passes_result(guard, call, user)]
    if holding and not any(call in read for call in holding):
        return True
    state = State(calls=_made(read), user_texts=(suite["users"][user]["prompt"],))
    asked = (Request(call["name"], call["arguments"], key=user) for call in task["calls"])
    return not all(guard.check(request, state).allowed for request in asked)


def _passes_result(guard: Guard, call: JsonMapping, user: str) -> bool:
    return guard.check(Request(call["name"], call["arguments"], result=call["result"], key=user)).allowed


def _holds(result: Any, words: str) -> bool:
    if isinstance(result, str):
        return " ".join(words.split()) in " ".join(result.split())
    inside = result.values() if isinstance(result, dict) else result if isinstance(result, list) else ()
    return any(_holds(each, words) for each in inside)


def _made(calls: Sequence[JsonMapping]) -> tuple[PastCall, ...]:
    return tuple(PastCall.from_document(call) for call in calls)
