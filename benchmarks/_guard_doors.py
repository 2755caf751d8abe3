"""Measures what a check takes by REST, on a running server with PostgreSQL and Redis and with SQLite, and by the SDK.

Questions come at a steady rate, each for itself, from threads of one process on loopback; a time begins when the
question was due, so that one that waits for a thread is not made shorter. A policy has ten rules, rates among them.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks._measuring import databases, installation, p95, prepared, processor_seconds, step
from benchmarks.row import Row
from tests.guard_vectors import CASES, POLICY, TOOLS
from tests.servers import RedisServer
from tests.servers.process import free_port
from toolevals.serving.application import Application

# Questions a second; at the first one p95 has its target, in milliseconds.
RATES, TARGET, PASSED = (50, 100, 150, 200, 300, 400), 20, 50
SECONDS, THREADS = 8, 16
PATH = "/api/v1/projects/bench/guard/check/"
USUAL: dict[str, Any] = {"request": {**CASES[0]["question"]["request"]}, "tokens": 1}
USUAL["state"] = {name: CASES[0]["question"]["state"][name] for name in ("calls", "user_texts")}


def rows() -> Iterator[Row]:
    """Measure on the databases."""
    for database in databases():
        with ExitStack() as stack:
            environment = stack.enter_context(installation(database))
            if database == "PostgreSQL":
                environment["REDIS_URL"] = stack.enter_context(RedisServer()).url
            token = step("_guard_doors", environment, "prepare")
            data = Path(environment["TOOLEVALS_DATA_DIR"])
            server = Application(python=sys.executable, data=data, port=free_port(), environment=environment)
            stack.enter_context(server)
            server.prepare(sample=False)
            server.start()
            yield from _rest_rows(database, environment, server.port, token)


def _rest_rows(database: str, environment: dict[str, str], port: int, token: str) -> Iterator[Row]:
    step("_guard_doors", environment, "ask", str(port), token, "20")
    highest = 0
    for rate in RATES:
        before = processor_seconds(os.getpid())
        took = p95(step("_guard_doors", environment, "ask", str(port), token, str(rate)))
        if rate == RATES[0]:
            spent = (processor_seconds(os.getpid()) - before) / (rate * SECONDS)
            yield Row(f"{database}: a check by REST, processor time of all servers", 1000 * spent, "ms", better="lower")
            target = TARGET if database == "PostgreSQL" else None
            yield Row(f"{database}: a check by REST at {rate}/s, p95", took, "ms", target=target, better="lower")
        if took > PASSED:
            break
        highest = rate
    yield Row(f"{database}: the highest rate of {', '.join(map(str, RATES))} with p95 below {PASSED} ms", highest, "/s")


def _prepare() -> str:
    """Put a policy in force, and return a token that asks for its key."""
    project, _, people = prepared()
    from toolevals.registry.policies.services import policy_activate, policy_create
    from toolevals.registry.services import registry_create, registry_publish
    from toolevals.workspace.models import Role, TokenScope
    from toolevals.workspace.tokens.services import token_create

    rules = json.loads(json.dumps(POLICY["rules"]))
    rules["desk"]["keys"]["desk"] |= {"requests_a_minute": 10**8, "tokens_a_minute": 10**8}
    rules["rates"]["a_minute"] = {"*": 10**8}
    registry = registry_create(project=project, actor=None, slug="guarded", name="Guarded")
    registry_publish(registry=registry, actor=None, document=TOOLS)
    version = policy_create(
        project=project,
        actor=None,
        slug="shop",
        name="Shop",
        document={"rules": rules, "deadline_ms": 10_000},
        registry=registry,
    )
    policy_activate(version=version, actor=None)
    _, secret = token_create(
        project=project, actor=None, user=people[0], name="desk", role=Role.VIEWER, scope=TokenScope.GUARD
    )
    return secret


def _asked(port: int, token: str, rate: int) -> list[float]:
    """Return the seconds that each question took since it was due."""
    request = {name: value for name, value in USUAL["request"].items() if name != "key"}
    body = json.dumps({**USUAL, "request": request}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    numbers, found = itertools.count(), []
    began = time.perf_counter() + 0.2

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while (number := next(numbers)) < rate * SECONDS:
            due = began + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            connection.request("POST", PATH, body, headers)
            response = connection.getresponse()
            said = json.loads(response.read())
            found.append(time.perf_counter() - due)
            if said.get("allowed") is not True:
                raise RuntimeError(f"the usual call is not allowed: {response.status} {said}")

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if len(found) < rate * SECONDS:
        raise RuntimeError(f"{rate * SECONDS - len(found)} questions were not answered")
    return found


def main(words: Sequence[str]) -> Any:
    """Do a step."""
    return _prepare() if words[0] == "prepare" else _asked(int(words[1]), words[2], int(words[3]))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
