"""Measures the core: one call's card, conformance, long transcripts. One process, one core."""

from __future__ import annotations

import gc
import json
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.row import Row
from tests.grading.reference import reference_problems
from toolevals.grading.dialects.bfcl import CATEGORIES
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade, grade_calls
from toolevals.grading.json_schema.conformance import call_problems
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.reading.parsing import call_in
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.verdicts import FailureTag
from toolevals.json_types import JsonObject

SAMPLE = Path(__file__).parents[1] / "tests" / "grading" / "data" / "bfcl" / "oracle_sample.jsonl"
TRACK = ToolSpec("track", "Says where an order is.", {"type": "object", "properties": {"order": {"type": "string"}}})
# Cases with the calls that an agent sent: names, and arguments as JSON text or as objects.
Cards: TypeAlias = Sequence[tuple[CompiledCase, Sequence[JsonObject]]]
# Each figure is the best of so many rounds: what else the machine does only slows it.
ROUNDS = 5


def rows() -> Iterator[Row]:
    """Measure the core on the benchmark's data, or on the committed sample where that is missing."""
    found = list(entries())
    cards = [(compile_case(each.expectation, each.tools), sent(each.calls)) for each in found]
    wrong = [(case, misled(calls)) for case, calls in cards]
    # What was made for the measurement is no work for the collector during it.
    gc.collect()
    gc.freeze()
    yield from _core_rows(found)
    yield from _transcript_rows()
    size = f"{len(found):,} entries"
    for name, measured, most in (("right", cards, 60), ("wrong", wrong, 120)):
        # The rounds send the same answers: of all but the first it is known what is decided.
        title = f"card of a {name} answer that came before ({size})"
        yield Row(title, _rate(partial(_grade_all, measured), len(found)), "cards/s")
        value = _rate(partial(_grade_new, found, [calls for _, calls in measured]), len(found))
        yield Row(f"an entry compiled and graded once, with a {name} answer", value, "entries/s")
        value = 1_000_000 / _rate(partial(_write_all, measured), len(found))
        yield Row(f"card of a {name} answer with its reasons, as a document", value, "µs", None, most, "lower")


def _core_rows(entries: Sequence[Entry]) -> Iterator[Row]:
    pairs = [
        (tool, call.arguments)
        for each in entries
        for call in each.calls
        for tool in each.tools
        if tool.name == call.name
    ]
    reference = _rate(lambda: [reference_problems(*pair) for pair in pairs[:200]], min(len(pairs), 200))
    fast = _rate(lambda: [call_problems(*pair) for pair in pairs], len(pairs))
    yield Row("schema gate", fast, "calls/s", reference, 100_000)
    compiled = _rate(lambda: [compile_case(each.expectation, each.tools) for each in entries], len(entries))
    yield Row("compile an expectation", compiled, "expectations/s", None, 2_000)
    yield Row("memory of a compiled expectation", _compiled_size(entries), "KB", None, 20, "lower")


def _transcript_rows() -> Iterator[Row]:
    case, talk = _conversation(50)
    silent = [name for name, status in grade(case, talk).statuses.items() if status == "unscored"]
    if silent:
        raise RuntimeError(f"nothing to grade for {', '.join(silent)}")
    yield Row("every verdict and detail of 50 messages", _milliseconds(case, talk), "ms", None, 2, "lower")
    short, long = (_milliseconds(*_conversation(2 * calls)) / calls for calls in (10, 1_000))
    yield Row("a call among 1,000, beside one among 10", long * 1000, "µs/call", short * 1000, short * 1500, "lower")


def _compiled_size(entries: Sequence[Entry]) -> float:
    """Return the kilobytes that a compiled expectation holds next to the tools and the label that it was made of."""
    tracemalloc.start()
    try:
        kept = [compile_case(each.expectation, each.tools) for each in entries]
        return tracemalloc.get_traced_memory()[0] / len(kept) / 1000
    finally:
        tracemalloc.stop()


def _conversation(messages: int) -> tuple[CompiledCase, Transcript]:
    """Return a transcript of calls and results by turns, the last ones wanted, and its expectation.

    There is something for every layer: a tool that fails at first, an answer and a state that are expected.
    """
    names = [f"A-{max(place, 1)}" for place in range(messages // 2)]
    calls = [ToolCall("track", {"order": name}, f"call-{place}") for place, name in enumerate(names)]
    failed = Message("tool", "503 Service Unavailable", call_id=calls[0].id, is_error=True)
    talk = [
        message
        for call in calls
        for message in (
            Message("assistant", "The total is 45." if call not in calls[:2] else "", (call,)),
            failed
            if call is calls[0]
            else Message("tool", json.dumps({"order": call.arguments["order"], "total": 45}), call_id=call.id),
        )
    ]
    wanted = tuple(CallExpectation("track", {"order": Exact(call.arguments["order"])}) for call in calls[-4:])
    state = {"orders": {name: {"total": 45} for name in names}}
    expectation = Expectation(
        "calls", alternatives=(Trajectory(ordered=wanted),), answer={"contains": ["45"]}, state=state
    )
    return compile_case(expectation, (TRACK,)), Transcript(tuple(talk), "Your order's total is 45.", state=dict(state))


def _milliseconds(case: CompiledCase, transcript: Transcript) -> float:
    return min(_seconds(lambda: grade(case, transcript).to_document()) for _ in range(ROUNDS)) * 1000


def _rate(work: Callable[[], object], count: int, rounds: int = ROUNDS) -> float:
    best = min(_seconds(work) for _ in range(rounds))
    return count / best


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _grade_all(cards: Cards) -> None:
    crashed = FailureTag.HARNESS_ERROR.value
    for case, sent in cards:
        graded = grade_calls(case, [call_in(call) for call in sent])
        if not graded.statuses or graded.tag == crashed:
            raise RuntimeError(graded.outcome.reason)


def _grade_new(entries: Sequence[Entry], answers: Sequence[Sequence[JsonObject]]) -> None:
    for each, sent in zip(entries, answers, strict=True):
        grade_calls(compile_case(each.expectation, each.tools), [call_in(call) for call in sent])


def _write_all(cards: Cards) -> None:
    for case, sent in cards:
        grade_calls(case, [call_in(call) for call in sent]).to_document()


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the leaderboard, with a right answer made of its gold."""

    category: str
    functions: list[JsonObject]
    gold: list[JsonObject]
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


def _questions() -> Iterator[tuple[str, JsonObject, list[JsonObject]]]:
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


def _lines(path: Path) -> Iterator[JsonObject]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _right_call(call: JsonObject) -> ToolCall:
    ((name, parameters),) = call.items()
    values = {key: _first(allowed[0]) if allowed else [] for key, allowed in parameters.items()}
    return ToolCall(name, {key: value for key, value in values.items() if value != ""})


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        chosen = {key: items[0] if isinstance(items, list) else items for key, items in value.items()}
        return {key: _first(item) for key, item in chosen.items() if item != ""}
    return [_first(item) for item in value] if isinstance(value, list) else value


def peer_rows(most: int | None) -> list[JsonObject]:
    """Return entries as other libraries are given them, with their right answers and wrong ones."""
    return [
        {
            "category": each.category,
            "functions": each.functions,
            "gold": each.gold,
            "right": [{"name": call.name, "arguments": call.arguments} for call in each.calls],
            "wrong": parsed(misled(sent(each.calls))),
        }
        for each in list(entries())[:most]
    ]


def sent(calls: Sequence[ToolCall]) -> list[JsonObject]:
    return [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]


def parsed(sent: Sequence[JsonObject]) -> list[JsonObject]:
    return [{**call, "arguments": json.loads(call["arguments"])} for call in sent]


def misled(sent: Sequence[JsonObject]) -> list[JsonObject]:
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
