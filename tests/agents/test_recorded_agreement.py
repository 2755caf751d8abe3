"""535 recorded trajectories: end state and answer together, beside the reward that the benchmarks recorded.

Each trajectory's calls and its task's expected ones are made in a world of the benchmark's shop or airline. Those that
do not agree are named here, with the reason. The whole takes about six seconds.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from labeling.imports.readers.recorded_tasks import tau2_expectation, tau_expectation
from tests.grading.benchmark import needs_benchmark
from tests.reports.recorded import airline, retail
from toolevals.agents.code.states import SharedState
from toolevals.agents.replay import Executions, executed_calls
from toolevals.agents.worlds import ToolAnswer
from toolevals.grading.layers.answer import grade_answer
from toolevals.grading.layers.execution import grade_effect
from toolevals.grading.reading.parsing.recorded import RecordedRun, tau2_runs, tau_runs
from toolevals.grading.values import Expectation, ToolCall

pytestmark = needs_benchmark
Tools = Mapping[str, Callable[..., Any]]
AIRLINE, RETAIL = "db_airline_tau1_at_run.json.gz", "db_retail_tau1.json.gz"
# File -> the world behind it, and how many of its trajectories there are.
FILES: Mapping[str, tuple[str, Tools, int]] = {
    "tau_gpt-4o_airline.slim.json.gz": (AIRLINE, airline.TOOLS, 200),
    "tau_grok-3_retail_flaky503.slim.json.gz": (RETAIL, retail.TOOLS, 115),
    "tau2_ft-gpt-4.1-sft_airline_1trial.json.gz": (AIRLINE, airline.TOOLS, 20),
    "tau2_gpt-4.1_airline_1trial.json.gz": (AIRLINE, airline.TOOLS, 20),
    "tau2_gpt-oss-120b_airline.slim.json.gz": (AIRLINE, airline.TOOLS, 50),
    "tau2_qwen2.5-7b_airline_1trial.slim.json.gz": (AIRLINE, airline.TOOLS, 50),
    "tau2_ft-gpt-4.1-sft_retail_1trial.slim.json.gz": (RETAIL, retail.TOOLS_2, 40),
    "tau2_gpt-4.1_retail_1trial.slim.json.gz": (RETAIL, retail.TOOLS_2, 40),
}
# Those that do not agree: file, task and trial, and the reason.
GOLD_REFUSED, REFUSED = "A tool refused an expected call", "The tool refused the call when it was run"
DIFFERENT: Mapping[tuple[str, str, int], str] = {
    ("tau2_ft-gpt-4.1-sft_retail_1trial.slim.json.gz", "12", 0): GOLD_REFUSED,
    ("tau2_gpt-4.1_retail_1trial.slim.json.gz", "12", 0): GOLD_REFUSED,
    ("tau2_gpt-4.1_retail_1trial.slim.json.gz", "64", 0): GOLD_REFUSED,
    ("tau2_ft-gpt-4.1-sft_retail_1trial.slim.json.gz", "65", 0): REFUSED,
    ("tau2_qwen2.5-7b_airline_1trial.slim.json.gz", "10", 0): REFUSED,
}


class Found(NamedTuple):
    """One trajectory: whether it succeeds by end state and answer, and why its end state is right or wrong."""

    run: RecordedRun
    success: bool
    reason: str


@pytest.fixture(scope="module")
def found() -> Mapping[str, list[Found]]:
    return {name: list(_graded(name, tools, _document(database))) for name, (database, tools, _) in FILES.items()}


def test_end_state_and_answer_agree_with_the_recorded_reward(found):
    every = {(name, each.run.task_id, each.run.trial): each for name, runs in found.items() for each in runs}
    assert Counter(name for name, _, _ in every) == {name: count for name, (_, _, count) in FILES.items()}
    different = {key: each.reason for key, each in every.items() if each.success is not (each.run.reward == 1)}
    assert different.keys() == DIFFERENT.keys()
    assert all(reason in different[key] for key, reason in DIFFERENT.items())
    assert len(every) - len(different) >= 525


def test_recorded_results_come_out_to_the_letter():
    database = _document(RETAIL)
    pairs: list[tuple[str, str]] = []
    for run in tau_runs(_document("tau_grok-3_retail_flaky503.slim.json.gz")):
        # Faults that were injected are results of no call.
        said = {id(result.call): result.content for result in run.transcript.results}
        with _Simulator(database, retail.TOOLS, raises=False).world({}) as world:
            calls = [call for call in executed_calls(run.transcript) if id(call) in said]
            pairs += [(world.call(call).content, said[id(call)]) for call in calls]
    assert len(pairs) > 500
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def _graded(name: str, tools: Tools, database: Mapping[str, Any]) -> Iterator[Found]:
    executions = Executions(_Simulator(database, tools, raises=name.startswith("tau2")))
    for run, expectation in _runs(_document(name)):
        execution = grade_effect(executions.effect(run.task_id, {}, expectation, run.transcript)).verdict
        answer = grade_answer(expectation.answer, run.transcript).status
        done = execution.status == "passed" and answer != "failed" and run.transcript.ended is None
        yield Found(run, done, execution.reason)


def _runs(document: Any) -> Iterator[tuple[RecordedRun, Expectation]]:
    if "simulations" not in document:
        for run, record in zip(tau_runs(document), document["records"], strict=True):
            yield run, tau_expectation(record["info"]["task"], ordered=True)
        return
    tasks = {task["id"]: task for task in document["tasks"]}
    for run in tau2_runs(document):
        expectation, _ = tau2_expectation(tasks[run.task_id], ordered=True)
        assert expectation is not None
        yield run, expectation


def _document(name: str) -> Any:
    return json.loads(gzip.decompress((Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / name).read_bytes()))


class _Simulator:
    def __init__(self, database: Mapping[str, Any], tools: Tools, *, raises: bool) -> None:
        self._shared = SharedState(database)
        self._tools = tools
        self._raises = raises

    @contextmanager
    def world(self, _: Mapping[str, Any]) -> Iterator[_World]:
        yield _World(self._shared, self._tools, raises=self._raises)


class _World:
    """The tools of the second benchmark raise what they refuse, those of the first say it in a text."""

    def __init__(self, shared: SharedState, tools: Tools, *, raises: bool) -> None:
        self._raises = raises
        self._shared = shared
        self._tools = tools
        self._state = shared.begin()
        self._called = False

    def call(self, call: ToolCall) -> ToolAnswer:
        self._called = True
        try:
            said = self._tools[call.name](self._state, **call.arguments)
        except Exception as error:  # noqa: BLE001 (whatever a tool raises is its answer)
            return ToolAnswer(f"Error: {error}", is_error=self._raises)
        text = said if isinstance(said, str) else json.dumps(said)
        return ToolAnswer(text, is_error=self._raises and text.startswith("Error"))

    def state(self) -> Mapping[str, Any]:
        return self._shared.end(self._state) if self._called else self._shared.initial
