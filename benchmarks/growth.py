"""Measures what a unit costs at two sizes, and whether the larger makes it dearer; on SQLite and PostgreSQL.

A unit is an example that is imported or exported, a case that is graded, a row of a file, or one page: everything as
workers and the web server do it, in one process. What counts is its processor time and that of the database server.
`--size` is the larger number of examples; the other is a tenth of it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from benchmarks._measuring import (
    databases,
    example,
    graded,
    imported,
    installation,
    prediction,
    prepared,
    processor_seconds,
    size,
    step,
    work,
)
from benchmarks.row import Row

EXAMPLES = 100_000
# How many times as much a unit may cost at the larger size as at the smaller.
MOST = 1.3
# Examples that come first and count for nothing: what a process loads once is no cost of a unit.
WARM = 500
# Of a page: the least of so many means over so many, after one that counts for nothing. A page takes ten milliseconds,
# and other work on the machine a few more.
ROUNDS, TIMES = 5, 20
# Of a hundred answers so many name another tool than the right one.
WRONG = 20


def rows() -> Iterator[Row]:
    """Measure each size in a fresh installation."""
    examples = size(EXAMPLES)
    for database in databases():
        found = {}
        for count in (examples // 10, examples):
            with installation(database) as environment:
                found[count] = step("growth", environment, str(count))
            for name, cost in found[count].items():
                yield Row(f"{database}: {name}, of {count:,}", cost, "µs", better="lower")
        yield from growth_rows(database, found)


def growth_rows(database: str, found: Mapping[int, Mapping[str, float]]) -> Iterator[Row]:
    """Yield how many times as much each unit costs at the largest size as at the smallest; the target is MOST."""
    first, last = min(found), max(found)
    for name, cost in found[last].items():
        title = f"{database}: {name}, {last:,} over {first:,}"
        yield Row(title, cost / found[first][name], "times", target=MOST, better="lower")


def measure(project: Any, tools: Any, person: Any, examples: int) -> dict[str, float]:
    """Return the processor time of each unit in microseconds: of an example, a case, a row of a file, a page."""
    from django.test import Client

    from labeling.exports import Outcome, Selection, format_named
    from labeling.versions.services import version_freeze

    slug = f"support-{examples}"
    content = b"".join(example(number, f"tool_{number % 10}") for number in range(examples))
    dataset, cost = _cost(examples, lambda: imported(project, tools, slug, content))
    found = {"import, an example": cost}
    for name in ("jsonl", "csv"):
        write = partial(format_named(name).write, Selection(dataset), Outcome())
        found[f"export, {name}, an example"] = _cost(examples, lambda write=write: sum(map(len, write())))[1]  # type: ignore[misc]
    version = version_freeze(dataset=dataset, actor=None)
    work()
    called = ((number + (number % 100 < WRONG)) % 10 for number in range(examples))
    content = b"".join(prediction(number, 0, f"tool_{tool}") for number, tool in enumerate(called))
    run, found["upload to matrix, a case"] = _cost(examples, lambda: graded(version, content, slug))
    client = Client(SERVER_NAME="localhost")
    client.force_login(person)
    base = f"/p/bench/runs/{run.number}/"
    for name, path in (("run page", ""), ("matrix page", "matrix/"), ("reliability page", "reliability/")):
        found[f"{name}, a page"] = _page(client, base + path)
    # The file may be made by a job, and then fetched; `now` asks for it at once.
    lines, cost = _cost(examples, lambda: _lines(client.get(base + "cases.csv", {"now": "1"})))
    if lines < examples:
        raise RuntimeError(f"{lines} lines of {examples} cases")
    return found | {"cases CSV, a row": cost}


def _cost(units: int, act: Callable[[], Any]) -> tuple[Any, float]:
    began = _processor()
    result = act()
    return result, (_processor() - began) * 1e6 / units


def _processor() -> float:
    """Return the seconds of this process, to the microsecond, and those of the servers next to it."""
    return time.process_time() + processor_seconds(os.getppid(), without=os.getpid())


def _page(client: Any, path: str) -> float:
    def ask(times: int) -> None:
        for _ in range(times):
            response = client.get(path)
            if response.status_code != HTTPStatus.OK:
                raise RuntimeError(f"{path}: {response.status_code}")

    ask(1)
    return min(_cost(TIMES, lambda: ask(TIMES))[1] for _ in range(ROUNDS))


def _lines(response: Any) -> int:
    return sum(chunk.count(b"\n") for chunk in response.streaming_content)


if __name__ == "__main__":
    made, its_tools, (someone, *_) = prepared()
    asked = int(sys.argv[1])
    # A size of its own, so that the slug differs.
    measure(made, its_tools, someone, min(WARM, asked) + 1)
    sys.stdout.write(json.dumps(measure(made, its_tools, someone, asked)))
