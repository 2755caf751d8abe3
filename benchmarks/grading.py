"""Measures the core: one call's card, conformance, the leaderboard's verdicts, alignment. One process, one core."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeAlias

from benchmarks._leaderboard import Entry
from benchmarks._leaderboard import entries as leaderboard_entries
from benchmarks.row import Row
from tests.grading.reference import reference_problems
from toolevals.grading.alignment.assignment import best_assignment
from toolevals.grading.dialects.bfcl import check
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade, grade_calls
from toolevals.grading.json_schema.conformance import call_problems
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
from toolevals.grading.values.statuses import FailureTag

PEERS = Path(__file__).parent / "peers" / "call_checkers.py"
TRACK = ToolSpec("track", "Says where an order is.", {"type": "object", "properties": {"order": {"type": "string"}}})
# Cases with the calls that an agent sent: names, and arguments as JSON text or as objects.
Cards: TypeAlias = Sequence[tuple[CompiledCase, Sequence[dict[str, Any]]]]
# Each figure is the best of so many rounds: what else the machine does only slows it.
ROUNDS = 5


def rows() -> Iterator[Row]:
    """Measure the core on the benchmark's data, or on the committed sample where that is missing.

    Rows next to other libraries come last: they need a Python that has those (see `peers/`), and raise without it.
    """
    entries = list(leaderboard_entries())
    cards = [(compile_case(each.expectation, each.tools), _sent(each.calls)) for each in entries]
    wrong = [(case, _misled(sent)) for case, sent in cards]
    # What was made for the measurement is no work for the collector during it.
    gc.collect()
    gc.freeze()
    yield from _core_rows(entries)
    yield from _transcript_rows()
    rates = _peer_rates(entries)
    size = f"{len(entries):,} entries"
    for name, measured, peer, times in (
        ("right", cards, "bfcl_right", 3),
        ("wrong", wrong, "bfcl_wrong", 2.5),
        ("wrong", wrong, "bfcl_right", 2.5),
    ):
        value = _rate(partial(_grade_all, measured), len(entries))
        beside = f"beside the leaderboard's checker on {peer.removeprefix('bfcl_')} ones"
        # The rounds send the same answers: of all but the first it is known what is decided.
        title = f"card of a {name} answer that came before ({size}), {beside}"
        yield Row(title, value, "cards/s", rates[peer], times * rates[peer])
    for name, answers in (("right", cards), ("wrong", wrong)):
        value = _rate(partial(_grade_new, entries, [sent for _, sent in answers]), len(entries))
        title = (
            f"an entry compiled and graded once, with a {name} answer, beside the leaderboard's checker on such ones"
        )
        yield Row(title, value, "entries/s", rates[f"bfcl_{name}"], rates[f"bfcl_{name}"])
    for name, measured, most in (("right", cards, 60), ("wrong", wrong, 120)):
        value = 1_000_000 / _rate(partial(_write_all, measured), len(entries))
        yield Row(f"card of a {name} answer with its reasons, as a document", value, "µs", None, most, "lower")
    single = [(case, _parsed(sent)) for case, sent in cards if len(sent) == 1]
    value = _rate(partial(_grade_all, single), len(single))
    for peer, what in (("exact_match", "evaluate"), ("exact_match_inside", "compute_one, the inside of that")):
        title = f"card of one call given as a dict, beside ai-evaluation's exact match ({what})"
        yield Row(title, value, "cards/s", rates[peer], 3 * rates[peer])
    title = "the leaderboard's verdict on a right answer, of an entry seen once"
    yield Row(title, _leaderboard_rate(entries), "checks/s", rates["bfcl_right"], 2 * rates["bfcl_right"])


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
    yield Row("align 64 calls that all compete", _hard_alignment(), "ms", None, 10, "lower")


def _transcript_rows() -> Iterator[Row]:
    case, shuffled = _parallel(64)
    yield Row("grade 64 parallel calls in another order", _milliseconds(case, shuffled), "ms", None, 10, "lower")
    case, talk = _conversation(50)
    silent = [name for name, status in grade(case, talk).statuses.items() if status == "unscored"]
    if silent:
        raise RuntimeError(f"nothing to grade for {', '.join(silent)}")
    yield Row("every verdict and detail of 50 messages", _milliseconds(case, talk), "ms", None, 2, "lower")
    short, long = (_milliseconds(*_conversation(2 * calls)) / calls for calls in (10, 1_000))
    yield Row("a call among 1,000, beside one among 10", long * 1000, "µs/call", short * 1000, short * 1500, "lower")


def _peer_rates(entries: Sequence[Entry]) -> dict[str, float]:
    """Return the rates of other libraries on the same entries, measured now. Raises where they are not there."""
    python = os.environ.get("TOOLEVALS_BENCH_PYTHON")
    if not python:
        raise RuntimeError(
            "TOOLEVALS_BENCH_PYTHON is not set: it names a Python that has bfcl-eval and ai-evaluation, "
            "and without it nothing is measured beside them"
        )
    rows = peer_rows(entries)
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
        file.flush()
        done = subprocess.run([python, str(PEERS), file.name], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{python} cannot measure the other libraries: {done.stderr.strip()[-300:]}")
    rates: dict[str, float] = json.loads(done.stdout)
    return rates


def peer_rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the entries as other libraries are given them, with their right answers and wrong ones."""
    return [
        {
            "category": each.category,
            "functions": each.functions,
            "gold": each.gold,
            "right": [{"name": call.name, "arguments": call.arguments} for call in each.calls],
            "wrong": _parsed(_misled(_sent(each.calls))),
        }
        for each in entries
    ]


def _leaderboard_rate(entries: Sequence[Entry]) -> float:
    """Return the rate of the leaderboard's verdict alone, on entries given once."""
    answers = [[{call.name: call.arguments} for call in each.calls] for each in entries]
    checks = [partial(check, each.category, each.functions, each.gold) for each in entries]
    return _rate(partial(_check_all, checks, answers), len(entries))


def _check_all(checks: Sequence[Callable[[Any], str | None]], answers: Sequence[Any]) -> None:
    for each, answer in zip(checks, answers, strict=True):
        each(answer)


def _compiled_size(entries: Sequence[Entry]) -> float:
    """Return the kilobytes that a compiled expectation holds next to the tools and the label that it was made of."""
    tracemalloc.start()
    try:
        kept = [compile_case(each.expectation, each.tools) for each in entries]
        return tracemalloc.get_traced_memory()[0] / len(kept) / 1000
    finally:
        tracemalloc.stop()


def _parallel(count: int) -> tuple[CompiledCase, Transcript]:
    """Return an expectation of calls of one tool, anywhere, and those calls in the reverse order."""
    wanted = tuple(CallExpectation("track", {"order": Exact(f"A-{place}")}) for place in range(count))
    calls = tuple(ToolCall("track", {"order": f"A-{place}"}) for place in reversed(range(count)))
    trajectory = Trajectory(unordered=wanted, additional_calls=False)
    case = compile_case(Expectation("calls", alternatives=(trajectory,)), (TRACK,))
    return case, Transcript((Message("assistant", calls=calls),))


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
            Message("assistant", "I shall look.", (call,)),
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


def _grade_new(entries: Sequence[Entry], answers: Sequence[Sequence[dict[str, Any]]]) -> None:
    for each, sent in zip(entries, answers, strict=True):
        grade_calls(compile_case(each.expectation, each.tools), [call_in(call) for call in sent])


def _write_all(cards: Cards) -> None:
    for case, sent in cards:
        grade_calls(case, [call_in(call) for call in sent]).to_document()


def _hard_alignment() -> float:
    weights = [
        [1_000_000 if row + column == 63 else 999 - (row * column) % 7 for column in range(64)] for row in range(64)
    ]
    return min(_seconds(lambda: best_assignment(weights)) for _ in range(ROUNDS)) * 1000


def _sent(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]


def _parsed(sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**call, "arguments": json.loads(call["arguments"])} for call in sent]


def _misled(sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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
