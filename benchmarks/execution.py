"""Measures execution: recorded retail trajectories by the state that they leave, next to the usual way, in one run.

Needs `TOOLEVALS_BENCHMARK_DATA`. Both ways make the expected calls and the recorded ones with the same tools, on the
same database; what the recorded tools answered, and what the benchmark found, is compared with what comes out here.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import _retail
from benchmarks.row import Row
from labeling.imports.readers.recorded_expectations import tau_expectation
from toolevals.agents.code import CodeSimulator
from toolevals.agents.code.states import SharedState
from toolevals.agents.replay import Executions, executed_calls
from toolevals.agents.worlds import Simulator, ToolAnswer, World
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.layers.execution import grade_effect
from toolevals.grading.matching.executable_calls import exact_calls
from toolevals.grading.reading.parsing.recorded import tau_runs
from toolevals.grading.values import Expectation, ToolCall, Transcript

RUNS, DATABASE = "tau_grok-3_retail_flaky503.slim.json.gz", "db_retail_tau1.json.gz"
# How many times as fast as the usual way.
TIMES = 5
# Trajectories by which the usual way is timed; it takes as long for each.
SOME = 12


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded trajectory, what its task expects, and whether the benchmark found it successful."""

    number: int
    transcript: Transcript
    expectation: Expectation
    success: bool


def rows() -> Iterator[Row]:
    """Measure on the recorded retail runs. Raises KeyError without the data."""
    database, recorded = recorded_data()
    right, total = results_reproduced(database, recorded)
    yield Row("recorded results reproduced exactly", right / total, f"of {total:,}", target=1)
    agreed = sum(outcome(case, Executions(Retail(database))) is case.success for case in recorded)
    yield Row("recorded outcomes reproduced", agreed / len(recorded), f"of {len(recorded)}", target=1)
    usual = _milliseconds(usual_way(database), recorded[:SOME])
    with _code(database) as simulator:
        for name, each in (("in a simulator's process", simulator), ("in one process", Retail(database))):
            spent = _milliseconds(our_way(each), recorded)
            yield Row(f"a retail trajectory, {name}", spent, "ms", usual, usual / TIMES, "lower")


def recorded_data() -> tuple[dict[str, Any], list[Recorded]]:
    """Return the recorded database and trajectories. Raises KeyError without the data."""
    folder = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau"
    return json.loads(gzip.decompress((folder / DATABASE).read_bytes())), list(recorded_runs(folder))


def steps_of(way: Callable[[Mapping[str, Any]], Callable[[Recorded], bool]]) -> dict[str, Callable[..., int]]:
    """Return the steps of a way to execute, for `side_by_side`; both return numbers of trajectories.

    Each round gets a way of its own, so that nothing of the round before can be used again.
    """
    kept: list[Any] = []

    def load(most: int) -> int:
        database, recorded = recorded_data()
        kept[:] = [database, recorded[:most]]
        return len(kept[1])

    def execute() -> int:
        database, recorded = kept
        same = way(database)
        return sum(same(case) for case in recorded)

    return {"load": load, "execute": execute}


def recorded_runs(folder: Path) -> Iterator[Recorded]:
    document = json.loads(gzip.decompress((folder / RUNS).read_bytes()))
    for number, (record, run) in enumerate(zip(document["records"], tau_runs(document), strict=True)):
        expectation = tau_expectation(record["info"]["task"], ordered=True)
        yield Recorded(number, run.transcript, expectation, run.reward == 1)


def results_reproduced(database: Mapping[str, Any], recorded: Sequence[Recorded]) -> tuple[int, int]:
    """Return how many of the recorded results come out to the letter, and of how many; injected faults are none."""
    pairs: list[tuple[str, str]] = []
    for case in recorded:
        said = {id(result.call): result.content for result in case.transcript.results}
        with Retail(database).world({}) as world:
            calls = [call for call in executed_calls(case.transcript) if id(call) in said]
            pairs += [(world.call(call).content, said[id(call)]) for call in calls]
    return sum(made == said for made, said in pairs), len(pairs)


def outcome(case: Recorded, executions: Executions) -> bool:
    """Tell whether the expected state was left, and everything said that had to be: the benchmark's own outcome."""
    effect = executions.effect(case.number, {}, case.expectation, case.transcript)
    statuses = grade(compile_case(case.expectation, ()), case.transcript, effect=effect).statuses
    return statuses["execution"] == "passed" and statuses["answer"] != "failed"


def our_way(simulator: Simulator) -> Callable[[Recorded], bool]:
    """Return what a worker does: gold and candidate in worlds of the simulator, the states compared."""
    executions = Executions(simulator)

    def same(case: Recorded) -> bool:
        effect = executions.effect(case.number, {}, case.expectation, case.transcript)
        return grade_effect(effect).verdict.status == "passed"

    return same


def usual_way(database: Mapping[str, Any]) -> Callable[[Recorded], bool]:
    """Return what is usually done: for each replay the JSON is read again, and the whole state hashed at its end."""
    text = json.dumps(database)

    def final(calls: Sequence[ToolCall]) -> str:
        state = json.loads(text)
        for call in calls:
            _retail.TOOLS[call.name](state, **call.arguments)
        return hashlib.sha256(str(_hashable(state)).encode()).hexdigest()

    def same(case: Recorded) -> bool:
        (expected,) = exact_calls(case.expectation)
        return final(expected) == final(list(executed_calls(case.transcript)))

    return same


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _hashable(part)) for key, part in sorted(value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _milliseconds(way: Callable[[Recorded], bool], recorded: Sequence[Recorded]) -> float:
    """Return the wall time of one trajectory. Each is seen once: nothing of another trial can be used again."""
    way(recorded[0])
    start = time.perf_counter()
    for case in recorded[1:]:
        way(case)
    return (time.perf_counter() - start) / (len(recorded) - 1) * 1000


@contextmanager
def _code(database: Mapping[str, Any]) -> Iterator[Simulator]:
    """Yield the shop as a project keeps it: code, which says where its state is, in a process of its own."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "database.json"
        path.write_text(json.dumps(database), encoding="utf-8")
        source = Path(_retail.__file__).read_text(encoding="utf-8")
        source += f"\n\nwith open({str(path)!r}) as file:\n    STATE = json.load(file)\n"
        with CodeSimulator({"simulator.py": source}, trusted=True) as simulator:
            yield simulator


class Retail:
    """The shop in this process."""

    def __init__(self, database: Mapping[str, Any]) -> None:
        self._shared = SharedState(database)

    @contextmanager
    def world(self, _: Mapping[str, Any]) -> Iterator[World]:
        yield _RetailWorld(self._shared)


class _RetailWorld:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._state = shared.begin()
        self._called = False

    def call(self, call: ToolCall) -> ToolAnswer:
        self._called = True
        return ToolAnswer(_retail.TOOLS[call.name](self._state, **call.arguments))

    def state(self) -> Mapping[str, Any]:
        return self._shared.end(self._state) if self._called else self._shared.initial
