"""Measures tools in turns: in each round every tool does every step once, and each round begins with another tool."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.side_by_side.drivers import Driver, StepError, Took
from benchmarks.side_by_side.environments import CannotInstallError, python_for
from benchmarks.side_by_side.tools import EXECUTION, GRADING, LABELLING, NEVER, OTHERS, OURS, Tool


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes to measure; `contested` examples are labelled by `people` at once, and `entries` is None for all."""

    examples: int = 10_000
    labels: int = 100
    people: int = 6
    contested: int = 60
    entries: int | None = None
    trajectories: int = 30
    rounds: int = 5


@dataclass(slots=True)
class Found:
    """The measurements: (step, tool key) -> one Took for each round; and what was not: (tool title, reason)."""

    times: dict[tuple[str, str], list[Took]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    overlap: dict[str, Mapping[str, int]] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)

    def lost(self, tool: Tool, reason: str) -> None:
        """Keep why a tool is not measured, or not any further, and say it."""
        self.missing.append((tool.title, reason))
        sys.stderr.write(f"{tool.title}: {reason}\n")

    def keep(self, step: str, tool: Tool, took: Took) -> None:
        """Keep one round of a step."""
        self.times.setdefault((step, tool.key), []).append(took)


def measure(kinds: Sequence[str], sizes: Sizes, *, peers: Path, folder: Path, seconds: float) -> Found:
    """Measure the tools of these kinds; environments lie in `peers`, everything else in `folder`.

    No step, and no installation, may take longer than `seconds`. A tool that fails is named, and the others go on.
    """
    found = Found(missing=list(NEVER))
    for kind in kinds:
        asked = [tool for tool in OTHERS if tool.kind == kind]
        with _started([OURS[kind], *asked], found, peers=peers, folder=folder, seconds=seconds) as drivers:
            ROUNDS[kind](drivers, found, sizes, folder)
    return found


@contextmanager
def _started(
    tools: Sequence[Tool], found: Found, *, peers: Path, folder: Path, seconds: float
) -> Iterator[list[Driver]]:
    with ExitStack() as stack:
        drivers = []
        for tool in tools:
            try:
                python = python_for(tool, peers, seconds=seconds)
                sys.stderr.write(f"Starting {tool.title}\n")
                driver = stack.enter_context(Driver(tool, python, folder / tool.key, seconds=seconds))
            except (CannotInstallError, StepError) as error:
                found.lost(tool, str(error))
                continue
            found.versions[tool.key] = driver.versions["version"]
            drivers.append(driver)
        yield drivers


def _each(drivers: list[Driver], found: Found, number: int, act: Callable[[Driver], object]) -> None:
    """Let each tool act once; one whose step fails is named, and measured no more."""
    turn = number % max(1, len(drivers))
    for driver in drivers[turn:] + drivers[:turn]:
        try:
            act(driver)
        except StepError as error:
            drivers.remove(driver)
            found.lost(driver.tool, str(error))


def expect(took: Took, wanted: Any) -> Took:
    """Return it. Raises StepError unless its result is what was wanted: a step that did less is no measurement."""
    if took.result != wanted:
        raise StepError(f"a step came to {took.result}, not to {wanted}")
    return took


def label_rounds(drivers: list[Driver], found: Found, sizes: Sizes, folder: Path) -> None:
    """Import, label, export; and at the end let several people label at once."""
    found.sizes |= {"take_in": sizes.examples, "label": sizes.labels, "export": sizes.examples}
    rows = _written(folder, "rows", sizes.examples)
    contested = _written(folder, "contested", sizes.contested)

    def work(driver: Driver) -> None:
        tool = driver.tool
        driver.do("make", wanted=2)
        taken = driver.do("take_in", path=rows[_format(tool)])
        found.keep("take_in", tool, expect(taken, sizes.examples))
        found.keep("label", tool, expect(driver.do("label", times=sizes.labels), sizes.labels))
        expect(driver.do("annotate"), 2 * sizes.examples)
        exported = driver.do("export")
        expect(driver.do("exported"), [sizes.examples, 2 * sizes.examples])
        found.keep("export", tool, exported)

    def contest(driver: Driver) -> None:
        if not driver.tool.has_overlap:
            return
        driver.do("make", wanted=2)
        expect(driver.do("take_in", path=contested[_format(driver.tool)]), sizes.contested)
        found.overlap[driver.tool.key] = driver.do("overlap", people=sizes.people).result

    for number in range(sizes.rounds):
        _each(drivers, found, number, work)
    _each(drivers, found, 0, contest)


def grade_rounds(drivers: list[Driver], found: Found, sizes: Sizes, folder: Path) -> None:
    """Grade right and wrong answers of the leaderboard's entries."""
    path, count = _entries(folder, sizes.entries)
    ours = ("right_once", "wrong_once", "right", "wrong")
    found.sizes |= dict.fromkeys(ours, count)
    _each(drivers, found, 0, lambda driver: expect(driver.do("load", path=path), count))

    def work(driver: Driver) -> None:
        for step in ours if driver.tool in OURS.values() else ("right", "wrong"):
            found.keep(step, driver.tool, driver.do(step))

    # The first loads what is used later, and counts for nothing.
    _each(drivers, found, 0, lambda driver: driver.do("right"))
    for number in range(sizes.rounds):
        _each(drivers, found, number, work)


def execute_rounds(drivers: list[Driver], found: Found, sizes: Sizes, _: Path) -> None:
    """Execute recorded trajectories."""

    def load(driver: Driver) -> None:
        found.sizes["execute"] = driver.do("load", most=sizes.trajectories).result

    _each(drivers, found, 0, load)
    for number in range(sizes.rounds):
        _each(drivers, found, number, lambda driver: found.keep("execute", driver.tool, driver.do("execute")))


ROUNDS = {LABELLING: label_rounds, GRADING: grade_rounds, EXECUTION: execute_rounds}
TEXT = "My parcel was due on Monday and has not come; can you tell me where it is? "


def _format(tool: Tool) -> str:
    return "native" if tool.is_ours else "lines" if tool.lines else "list"


def _written(folder: Path, name: str, count: int) -> dict[str, str]:
    """Write the same texts of about one kilobyte in the three forms that imports read; return their paths."""
    texts = [f"{TEXT * 12}{number}" for number in range(count)]
    plain = [{"text": text} for text in texts]
    native = [
        {"id": f"ex-{number:05}", "input": {"messages": [{"role": "user", "content": text}]}}
        for number, text in enumerate(texts)
    ]
    contents = {
        "list": json.dumps(plain),
        "lines": "".join(f"{json.dumps(row)}\n" for row in plain),
        "native": "".join(f"{json.dumps(row)}\n" for row in native),
    }
    found = {}
    for form, content in contents.items():
        path = folder / f"{name}-{form}.{'json' if form == 'list' else 'jsonl'}"
        path.write_text(content, encoding="utf-8")
        found[form] = str(path)
    return found


def _entries(folder: Path, most: int | None) -> tuple[str, int]:
    from benchmarks._leaderboard import entries
    from benchmarks.grading import peer_rows

    rows = peer_rows(list(entries())[:most])
    path = folder / "entries.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path), len(rows)
