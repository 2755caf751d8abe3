"""The core: the card of one call, conformance, the leaderboard's verdicts, alignment. One process, one core."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.row import Row
from toolevals.grading.alignment import best_assignment
from toolevals.grading.bfcl import bfcl_example
from toolevals.grading.conformance import call_problems, reference_problems
from toolevals.grading.dialects.bfcl import CATEGORIES, check
from toolevals.grading.engine import CompiledCase, compile_case, grade
from toolevals.grading.parsing import call_in
from toolevals.grading.values import Expectation, Message, ToolCall, ToolSpec, Transcript

SAMPLE = Path(__file__).parents[1] / "tests" / "grading" / "data" / "bfcl" / "oracle_sample.jsonl"
# Each figure is the best of so many rounds: what else the machine does only slows it.
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the leaderboard, with a right answer made of its gold."""

    category: str
    functions: list[dict[str, Any]]
    gold: list[dict[str, Any]]
    calls: tuple[ToolCall, ...]
    expectation: Expectation
    tools: tuple[ToolSpec, ...]


def rows() -> Iterator[Row]:
    """Measure the core on the benchmark's data, or on the committed sample where they are not at hand."""
    entries = list(_entries())
    cards = [(compile_case(each.expectation, each.tools), _sent(each.calls)) for each in entries]
    wrong = [(case, _misled(sent)) for case, sent in cards]
    pairs = [
        (tool, call.arguments)
        for each in entries
        for call in each.calls
        for tool in each.tools
        if tool.name == call.name
    ]
    # What was made for the measurement is no work for the collector during it.
    gc.collect()
    gc.freeze()
    size = f"{len(entries):,} entries"
    reference = _rate(lambda: [reference_problems(*pair) for pair in pairs[:200]], min(len(pairs), 200))
    yield Row(
        f"card of a right answer ({size})", _rate(lambda: _grade_all(cards), len(cards)), "cards/s", reference, 10_000
    )
    yield Row(
        f"card of a wrong answer ({size})", _rate(lambda: _grade_all(wrong), len(wrong)), "cards/s", reference, 4_000
    )
    fast = _rate(lambda: [call_problems(*pair) for pair in pairs], len(pairs))
    yield Row("schema gate", fast, "calls/s", reference, 100_000)
    compiled = _rate(lambda: [compile_case(each.expectation, each.tools) for each in entries], len(entries))
    yield Row("compile an expectation", compiled, "expectations/s", None, 2_000)
    answers = [[{call.name: call.arguments} for call in each.calls] for each in entries]
    checked = _rate(
        lambda: [
            check(each.category, each.functions, each.gold, answer)
            for each, answer in zip(entries, answers, strict=True)
        ],
        len(entries),
    )
    yield Row("the leaderboard's verdict on a right answer", checked, "checks/s", reference, 30_000)
    yield Row("align 64 calls that all compete", _hard_alignment(), "ms", None, 10, "lower")


def _rate(work: Callable[[], object], count: int, rounds: int = ROUNDS) -> float:
    best = min(_seconds(work) for _ in range(rounds))
    return count / best


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _grade_all(cards: Sequence[tuple[CompiledCase, Sequence[dict[str, str]]]]) -> None:
    for case, sent in cards:
        calls = tuple(call_in(call) for call in sent)
        grade(case, Transcript((Message("assistant", calls=calls),)))


def _hard_alignment() -> float:
    weights = [
        [1_000_000 if row + column == 63 else 999 - (row * column) % 7 for column in range(64)] for row in range(64)
    ]
    return min(_seconds(lambda: best_assignment(weights)) for _ in range(ROUNDS)) * 1000


def _sent(calls: Sequence[ToolCall]) -> list[dict[str, str]]:
    return [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]


def _misled(sent: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return calls of the same tools with other values."""
    made = []
    for call in sent:
        arguments = {name: _other(value) for name, value in json.loads(call["arguments"]).items()}
        made.append({"name": call["name"], "arguments": json.dumps(arguments)})
    return made


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value} indeed" if isinstance(value, str) else value


def _entries() -> Iterator[Entry]:
    for category, question, gold in _questions():
        example = bfcl_example(question, {"ground_truth": gold}, category)
        if example.expectation is not None and isinstance(example.tools, list):
            calls = tuple(_right_call(call) for call in gold)
            yield Entry(category, question["function"], gold, calls, example.expectation, tuple(example.tools))


def _questions() -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    folder = os.environ.get("TOOLEVALS_BENCHMARK_DATA")
    if not folder:
        for line in SAMPLE.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield (
                row["category"],
                {"id": row["id"], "question": [], "function": row["functions"]},
                row["possible_answer"],
            )
        return
    for category in CATEGORIES:
        name = f"BFCL_v4_{category}.json"
        answers = {row["id"]: row["ground_truth"] for row in _lines(Path(folder) / "bfcl" / "possible_answer" / name)}
        for question in _lines(Path(folder) / "bfcl" / name):
            yield category, question, answers[question["id"]]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _right_call(call: dict[str, Any]) -> ToolCall:
    ((name, parameters),) = call.items()
    values = {key: _first(allowed[0]) if allowed else [] for key, allowed in parameters.items()}
    return ToolCall(name, {key: value for key, value in values.items() if value != ""})


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        chosen = {key: items[0] if isinstance(items, list) else items for key, items in value.items()}
        return {key: _first(item) for key, item in chosen.items() if item != ""}
    return [_first(item) for item in value] if isinstance(value, list) else value
