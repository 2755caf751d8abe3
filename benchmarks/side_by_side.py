"""Measures this project and other tools on the same inputs, in turns, and prints a table: `./dev bench side-by-side`.

Each tool is a process of its own Python that does one step after another. In each round every tool does every step
once, and each round begins with another tool.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Timer
from types import TracebackType
from typing import Any, Self

from benchmarks._measuring import WORDS
from benchmarks.grading import peer_rows
from benchmarks.peers.driver import loaded
from scripts.dev.environment import ROOT, VENV
from toolevals.serving.application import end_group, end_with_parent

PEERS = ROOT / "benchmarks" / "peers"
LABELLING, GRADING = "labelling", "grading"
NAMES = ("label_studio", "doccano", "bfcl", "ai_evaluation", "agentevals", "ragas", "deepeval")
# What their requirements are compiled for, and the seconds that a step or an installation may take.
VERSION, SECONDS = "3.11", 900
# What would lead a tool to another database or report its use elsewhere.
DROPPED = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "VIRTUAL_ENV")
SILENT = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true", "LANGSMITH_TRACING": "false"}
# Rows of the table: the title, the kind, our step, and that of the others.
ROWS = (
    ("import of an example", LABELLING, "take_in", "take_in"),
    ("next and submit a label", LABELLING, "label", "label"),
    ("export of an example with two labels", LABELLING, "export", "export"),
    ("right answer, entry graded once", GRADING, "right_once", "right"),
    ("wrong answer, entry graded once", GRADING, "wrong_once", "wrong"),
    ("right answer, entry graded before", GRADING, "right", "right"),
    ("wrong answer, entry graded before", GRADING, "wrong", "wrong"),
)


class StepError(Exception):
    """A tool cannot be installed, or a step was not done; the text says why."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as its file says; `lines` says that its import reads JSON Lines, not one list."""

    path: Path
    kind: str
    title: str
    lines: bool = True

    @property
    def is_ours(self) -> bool:
        """Return whether it is this project, which runs in the Python of this process."""
        return self.path.stem == "ours"

    @property
    def requirements(self) -> Path:
        """The hashed requirements of its environment."""
        return self.path.parent / "requirements" / f"{self.path.stem}.txt"


def tools(kind: str) -> list[Tool]:
    """Return this project and the others of a kind."""
    found = [(PEERS / f"{name}.py", loaded(PEERS / f"{name}.py")) for name in NAMES]
    others = [Tool(path, kind, each.TITLE, getattr(each, "LINES", True)) for path, each in found if kind == each.KIND]
    return [Tool(PEERS / "ours.py", kind, "toolevals"), *others]


def python_for(tool: Tool, folder: Path = VENV / "peers") -> str:
    """Return the Python of a tool; its environment is made once, and again where its requirements change.

    Raises StepError.
    """
    if tool.is_ours:
        return sys.executable
    home = folder / tool.path.stem
    python, stamp = home / "bin" / "python", home / "requirements.sha256"
    wanted = hashlib.sha256(tool.requirements.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == wanted):
        sys.stderr.write(f"Installing {tool.title}\n")
        its = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which(f"python{VERSION}")
        if its is None:
            raise StepError(f"needs Python {VERSION}, which is not on this machine")
        install(its, "-m", "venv", "--clear", str(home))
        words = ("--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")
        install(str(python), "-m", "pip", "install", *words, "-r", str(tool.requirements))
        # Written last: what was broken off is made again.
        stamp.write_text(wanted)
    return str(python)


def install(*command: str, seconds: float = SECONDS) -> None:
    """Run a command. Raises StepError where it fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise StepError(f"was not installed within {seconds:g} seconds") from None
    if done.returncode:
        raise StepError(f"could not be installed: {(done.stderr.strip() or done.stdout.strip())[-300:]}")


@dataclass(frozen=True, slots=True)
class Took:
    """The result of a step, and the seconds that it took."""

    result: Any
    processor: float
    clock: float


class Driver:
    """A tool's process; a context manager that ends it. Raises StepError where it does not start."""

    def __init__(self, tool: Tool, python: str, folder: Path, *, seconds: float = SECONDS) -> None:
        self.tool, self.seconds = tool, seconds
        folder.mkdir(parents=True)
        kept = {name: value for name, value in os.environ.items() if name not in DROPPED} | SILENT
        self._log = (folder / "log").open("w+b")
        self._process = subprocess.Popen(
            [python, str(PEERS / "driver.py"), str(tool.path), str(folder), tool.kind],
            cwd=folder,
            env=kept | ({"PYTHONPATH": str(ROOT)} if tool.is_ours else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - one system call
        )
        try:
            self.version = self._answer()["version"]
        except StepError:
            self.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end_group(self._process)
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                pipe.close()

    def do(self, step: str, **given: Any) -> Took:
        """Do a step. Raises StepError where the tool raises, ends, or takes longer than it may."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"step": step, "given": given}).encode() + b"\n")
        except BrokenPipeError:
            raise StepError(f"it has ended: {self._said()}") from None
        answer = self._answer()
        if "error" in answer:
            raise StepError(str(answer["error"]))
        return Took(answer["result"], float(answer["processor"]), float(answer["clock"]))

    def expect(self, wanted: Any, step: str, **given: Any) -> Took:
        """Do a step. Raises StepError, too, unless it comes to this: a step that did less is no measurement."""
        if (took := self.do(step, **given)).result != wanted:
            raise StepError(f"a step came to {took.result}, not to {wanted}")
        return took

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        late, began = Timer(self.seconds, end_group, [self._process]), time.monotonic()
        late.start()
        line = self._process.stdout.readline()
        in_time = time.monotonic() - began < self.seconds
        late.cancel()
        if not line:
            raise StepError(f"it ended: {self._said()}" if in_time else f"took longer than {self.seconds:g} seconds")
        found: dict[str, Any] = json.loads(line)
        return found

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-300:]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes to measure; `entries` is None for all."""

    examples: int = 10_000
    labels: int = 100
    entries: int | None = None
    rounds: int = 5


SMOKE = Sizes(examples=200, labels=5, entries=100, rounds=1)


@dataclass(slots=True)
class Found:
    """The measurements: (step, title) -> one Took for each round, units of each step; and what was not, and why."""

    times: dict[tuple[str, str], list[Took]] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def keep(self, step: str, tool: Tool, took: Took) -> None:
        """Keep one round of a step."""
        self.times.setdefault((step, tool.title), []).append(took)

    def lost(self, tool: Tool, reason: str) -> None:
        """Keep why a tool is not measured, or not any further, and say it."""
        self.missing[tool.title] = reason
        sys.stderr.write(f"{tool.title}: {reason}\n")


def measure(kind: str, sizes: Sizes, found: Found, folder: Path) -> None:
    """Measure the tools of a kind. One that fails is named, and the others go on."""
    with ExitStack() as stack:
        drivers = []
        for tool in tools(kind):
            try:
                driver = Driver(tool, python_for(tool), folder / tool.path.stem / kind)
            except StepError as error:
                found.lost(tool, str(error))
                continue
            drivers.append(stack.enter_context(driver))
            found.versions[tool.title] = driver.version
        {LABELLING: label_rounds, GRADING: grade_rounds}[kind](drivers, found, sizes, folder)


def each(drivers: list[Driver], found: Found, number: int, act: Callable[[Driver], object]) -> None:
    """Let each tool act once; one whose step fails is named, and measured no more."""
    turn = number % max(1, len(drivers))
    for driver in drivers[turn:] + drivers[:turn]:
        try:
            act(driver)
        except StepError as error:
            drivers.remove(driver)
            found.lost(driver.tool, str(error))


def label_rounds(drivers: list[Driver], found: Found, sizes: Sizes, folder: Path) -> None:
    """Import the same texts of about a kilobyte, label, export."""
    count = sizes.examples
    found.units |= {"take_in": count, "label": sizes.labels, "export": count}
    texts = [f"{WORDS * 12}{number}" for number in range(count)]
    ours = [
        {"id": f"ex-{n:05}", "input": {"messages": [{"role": "user", "content": text}]}} for n, text in enumerate(texts)
    ]
    theirs = [{"text": text} for text in texts]
    (folder / "theirs.json").write_text(json.dumps(theirs), encoding="utf-8")
    for name, rows in (("ours.jsonl", ours), ("theirs.jsonl", theirs)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    def work(driver: Driver) -> None:
        tool = driver.tool
        name = "ours.jsonl" if tool.is_ours else "theirs.jsonl" if tool.lines else "theirs.json"
        driver.do("make", wanted=2)
        found.keep("take_in", tool, driver.expect(count, "take_in", path=str(folder / name)))
        found.keep("label", tool, driver.expect(sizes.labels, "label", times=sizes.labels))
        driver.expect(2 * count, "annotate")
        exported = driver.do("export")
        driver.expect([count, 2 * count], "exported")
        found.keep("export", tool, exported)

    for number in range(sizes.rounds):
        each(drivers, found, number, work)


def grade_rounds(drivers: list[Driver], found: Found, sizes: Sizes, folder: Path) -> None:
    """Grade right and wrong answers of the leaderboard's entries."""
    rows, path = peer_rows(sizes.entries), folder / "entries.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    ours = ("right_once", "wrong_once", "right", "wrong")
    found.units |= dict.fromkeys(ours, len(rows))
    each(drivers, found, 0, lambda driver: driver.expect(len(rows), "load", path=str(path)))

    def work(driver: Driver) -> None:
        for step in ours if driver.tool.is_ours else ("right", "wrong"):
            found.keep(step, driver.tool, driver.do(step))

    # The first loads what is used later, and counts for nothing.
    each(drivers, found, 0, lambda driver: driver.do("right"))
    for number in range(sizes.rounds):
        each(drivers, found, number, work)


def table(found: Found) -> str:
    """Return the table: how many times as long each tool takes as ours, by pairs of rounds; below 1 it is faster."""
    lines = [
        "| | beside | ours, processor | the other | ratio | by the clock | passed, ours and theirs |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for title, kind, ours, theirs in ROWS:
        for other in [name for step, name in found.times if step == theirs and name != "toolevals"]:
            pairs = list(zip(found.times.get((ours, "toolevals"), []), found.times[theirs, other], strict=False))
            if pairs:
                lines.append(
                    _line(
                        f"{title}, {len(pairs)} rounds of {found.units[ours]:,}", other, pairs, kind, found.units[ours]
                    )
                )
    versions = ", ".join(f"{_cell(title)} {_cell(version)}" for title, version in found.versions.items())
    lines += [
        "",
        f"Versions: {versions}.",
        *(f"Not measured: {_cell(f'{title} {why}')}" for title, why in found.missing.items()),
    ]
    return "\n".join(lines) + "\n"


def _line(title: str, other: str, pairs: Sequence[tuple[Took, Took]], kind: str, units: int) -> str:
    ratios = [theirs.processor / max(ours.processor, 1e-9) for ours, theirs in pairs]
    clock = median(theirs.clock / max(ours.clock, 1e-9) for ours, theirs in pairs)
    times = [
        f"{median(side) * 1e6 / units:,.1f} µs"
        for side in zip(*((a.processor, b.processor) for a, b in pairs), strict=True)
    ]
    spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    slower = ", the other is faster" if median(ratios) < 1 else ""
    passed = f"{pairs[-1][0].result:,} and {pairs[-1][1].result:,}" if kind == GRADING else ""
    cells = (title, other, *times, spread + slower, f"{clock:.2f}", passed)
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """Return text that ends no cell and no row of a table, and marks nothing up."""
    one_line = " ".join(text.split())
    return one_line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


def main(words: Sequence[str]) -> int:
    """Measure, and print the table. Return 1 where a tool was not measured."""
    parser = argparse.ArgumentParser(
        prog="./dev bench side-by-side",
        description="Measure this project and other tools on the same inputs, in turns. Each is installed from the "
        "package index into an environment of its own. Status 1 where one could not be measured.",
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{LABELLING} or {GRADING} (both)", type=_kind)
    parser.add_argument("--smoke", action="store_true", help="small sizes and one round: about a minute once installed")
    for name, what in (
        ("examples", "that are imported"),
        ("labels", "that one person gives"),
        ("entries", "that are graded"),
        ("rounds", "of all tools in turns"),
    ):
        parser.add_argument(f"--{name}", type=_count, help=f"{what} ({getattr(Sizes(), name) or 'all'})")
    given = vars(parser.parse_args(words))
    kinds, usual = given.pop("kinds"), SMOKE if given.pop("smoke") else Sizes()
    sizes = Sizes(**{name: value or getattr(usual, name) for name, value in given.items()})
    found = Found()
    with tempfile.TemporaryDirectory(prefix="toolevals-side-by-side-") as folder:
        for kind in kinds or (LABELLING, GRADING):
            measure(kind, sizes, found, Path(folder))
    sys.stdout.write(table(found))
    return 1 if found.missing else 0


def _kind(text: str) -> str:
    if text not in (LABELLING, GRADING):
        raise argparse.ArgumentTypeError(f"no such kind: {text}")
    return text


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("1 at least")
    return number
