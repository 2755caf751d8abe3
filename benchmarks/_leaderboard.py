"""Reads the leaderboard's entries with right answers, from the benchmark's data or else the committed sample."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolevals.grading.dialects.bfcl import CATEGORIES
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.values import Expectation, ToolCall, ToolSpec

SAMPLE = Path(__file__).parents[1] / "tests" / "grading" / "data" / "bfcl" / "oracle_sample.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the leaderboard, with a right answer made of its gold."""

    category: str
    functions: list[dict[str, Any]]
    gold: list[dict[str, Any]]
    calls: tuple[ToolCall, ...]
    expectation: Expectation
    tools: tuple[ToolSpec, ...]


def entries() -> Iterator[Entry]:
    """Yield the entries of the eight Python categories that expect calls."""
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
