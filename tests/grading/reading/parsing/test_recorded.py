"""The recorded runs of the simulators, counted; see the notes that come with the data."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.grading.benchmark import needs_benchmark
from toolevals.grading.reading.parsing.recorded import tau2_runs, tau_runs
from toolevals.grading.values import ToolCall, Transcript
from toolevals.grading.values.problems import InvalidDocument


def recorded(name: str) -> Any:
    path = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / name
    return json.loads(gzip.decompress(path.read_bytes()))


@needs_benchmark
def test_the_airline_runs_have_the_published_counts():
    runs = list(tau_runs(recorded("tau_gpt-4o_airline.slim.json.gz")))
    assert len(runs) == 200
    assert {run.trial for run in runs} == {0, 1, 2, 3}
    # pass^1 of the published table.
    assert sum(run.reward or 0 for run in runs) / len(runs) == pytest.approx(0.420)
    calls = [call for run in runs for call in run.transcript.calls]
    assert len(calls) == 1164
    assert all(isinstance(call, ToolCall) for call in calls)
    errors = [sum(result.is_error for result in run.transcript.results) for run in runs]
    assert (sum(errors), sum(map(bool, errors))) == (73, 36)
    assert all(result.call is not None for run in runs for result in run.transcript.results)


@needs_benchmark
def test_a_shaped_reward_gives_way_to_the_outcome():
    runs = list(tau_runs(recorded("tau_grok-3_retail_flaky503.slim.json.gz")))
    assert len(runs) == 115
    assert {run.reward for run in runs} == {0.0, 1.0}
    assert sum(result.is_error for run in runs for result in run.transcript.results) == 159


@needs_benchmark
@pytest.mark.parametrize(
    ("name", "runs", "calls", "errors"),
    [
        ("tau2_gpt-4.1_retail_1trial.slim.json.gz", 40, 299, 12),
        ("tau2_gpt-4.1_airline_1trial.json.gz", 20, 148, 1),
        ("tau2_gpt-oss-120b_airline.slim.json.gz", 50, 847, 16),
        ("tau2_qwen2.5-7b_airline_1trial.slim.json.gz", 50, 344, 79),
    ],
)
def test_simulations_of_the_second_benchmark_are_read_whole(name, runs, calls, errors):
    read = list(tau2_runs(recorded(name)))
    results = [result for run in read for result in run.transcript.results]
    assert (len(read), sum(len(run.transcript.calls) for run in read)) == (runs, calls)
    assert sum(result.is_error for result in results) == errors
    assert all(result.call is not None for result in results)
    assert all(Transcript.from_document(run.transcript.to_document()) == run.transcript for run in read)


def test_a_tau2_simulation_without_the_calls_of_the_simulated_user():
    document = {
        "simulations": [
            {
                "task_id": 3,
                "trial": 1,
                "reward_info": {"reward": 1.0},
                "messages": [
                    {"role": "user", "content": None, "tool_calls": [{"id": "u", "name": "reboot", "arguments": {}}]},
                    {"role": "tool", "id": "u", "content": "ok", "requestor": "user", "error": False},
                    {"role": "assistant", "tool_calls": [{"id": "a", "name": "look", "arguments": {"x": 1}}]},
                    {"role": "tool", "id": "a", "content": "gone", "requestor": "assistant", "error": True},
                    {"role": "assistant", "content": "Sorry."},
                ],
            }
        ]
    }
    (run,) = tau2_runs(document)
    assert (run.task_id, run.trial, run.reward) == ("3", 1, 1.0)
    assert run.transcript.calls == (ToolCall("look", {"x": 1}, "a"),)
    assert [result.is_error for result in run.transcript.results] == [True]
    assert run.transcript.answer == "Sorry."
    assert [(loss.what, loss.first, loss.known) for loss in run.losses] == [
        ("call of the user", "/messages/0/tool_calls/0", True),
        ("result of a call of the user", "/messages/1", True),
    ]


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (
            [None, {"prompt_tokens": 3, "completion_tokens": 2}, {"prompt_tokens": 4}],
            {"input_tokens": 7, "output_tokens": 2},
        ),
        # A greeting is no step of the model; one that does not tell makes the whole unknown.
        ([{"prompt_tokens": 3}, {"prompt_tokens": 4}], {"input_tokens": 7}),
        ([{"prompt_tokens": 3}, None], {}),
        ([None], {}),
        ([], {}),
    ],
)
def test_the_tokens_of_a_tau2_simulation_are_those_of_all_its_steps_or_unknown(told, usage):
    messages = [{"role": "assistant", "content": "Hello", "usage": each} for each in told]
    simulation = {
        "task_id": "1",
        "messages": [*messages, {"role": "user", "content": "Hi", "usage": {"prompt_tokens": 9}}],
    }
    (run,) = tau2_runs({"simulations": [simulation]})
    assert run.transcript.usage == usage


def test_what_a_tau2_message_has_besides_is_a_loss_by_its_name():
    call = {"id": "a", "name": "look", "arguments": {}, "requestor": "assistant", "score": 3}
    raw = {"choices": [{"message": {"tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}}]}
    said = {"content": "Gone.", "thoughts": "hm", "raw_data": raw, "turn_idx": 3, "timestamp": "now", "empty": []}
    messages = [
        {"role": "assistant", "tool_calls": [call, {**call, "id": "b"}], "content": None},
        {"role": "tool", "id": "a", "content": "gone", "requestor": "assistant", "colour": "red"},
        {"role": "assistant", **said},
    ]
    (run,) = tau2_runs([{"task_id": "1", "messages": messages}])
    assert [str(loss) for loss in run.losses] == [
        "2 × unknown key score at /messages/*/tool_calls/*/score",
        "1 × unknown key colour at /messages/*/colour",
        "1 × unknown key thoughts at /messages/*/thoughts",
        "1 × answer of a provider at /messages/*/raw_data",
    ]


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ({"role": "assistant", "actions": [{"name": "look", "arguments": {}}]}, "/0/messages/0/actions"),
        ({"role": "assistant", "tool_calls": [{"name": "look", "with": {"x": 1}}]}, "/0/messages/0/tool_calls/0/with"),
    ],
)
def test_what_looks_like_a_call_in_a_tau2_message_refuses_the_file(message, pointer):
    with pytest.raises(InvalidDocument) as error:
        list(tau2_runs([{"task_id": "1", "messages": [message]}]))
    assert error.value.problems[0].pointer.startswith(pointer)


@pytest.mark.parametrize(
    "rewarded", [{}, {"reward_info": None}, {"reward_info": {}}, {"reward_info": {"reward": None}}]
)
def test_a_simulation_that_nobody_has_rewarded_has_no_reward(rewarded):
    (run,) = tau2_runs([{"task_id": "1", "messages": [], "termination_reason": "user_stop", **rewarded}])
    assert run.reward is None
    assert run.transcript.recorded == {"source": "tau2-bench", "ending": "user_stop"}
    assert run.transcript.ended is None
    (first,) = tau_runs([{"task_id": 1, "traj": []}])
    assert (first.reward, first.transcript.recorded) == (None, {"source": "tau-bench"})


@pytest.mark.parametrize(
    ("read", "document", "pointer"),
    [
        (tau_runs, {}, "/records"),
        (tau_runs, 3, ""),
        (tau_runs, [3], "/0"),
        (tau_runs, {"records": [{"reward": 1}]}, "/records/0/traj"),
        (tau_runs, [{"reward": 1, "traj": [{}], "task_id": 1}], "/0/traj/0"),
        (tau_runs, [{"reward": "1", "traj": [], "task_id": 1}], "/0/reward"),
        (tau_runs, [{"reward": 10**400, "traj": [], "task_id": 1}], "/0/reward"),
        (tau_runs, [{"reward": 1, "traj": []}], "/0/task_id"),
        (tau2_runs, [{"messages": [3]}], "/0/messages/0"),
        (
            tau2_runs,
            {"simulations": [{"messages": [], "task_id": "1", "reward_info": {"reward": "high"}}]},
            "/simulations/0/reward_info/reward",
        ),
    ],
)
def test_what_is_no_recording_is_refused_with_its_place(read, document, pointer):
    with pytest.raises(InvalidDocument) as caught:
        list(read(document))
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
