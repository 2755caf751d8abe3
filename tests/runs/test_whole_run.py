"""A whole run of an agent over the real protocol: 200 examples by 4 trials, tools simulated, some of them failing."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import pytest

from tests.agents.chat_server import Trouble, calls, chat_server, says
from tests.grading.metrics.tallies import tallies_of
from tests.runs.building import STATUS, cases_of, example, version_of
from tests.runs.live import live_run
from toolevals.grading.metrics.reliability import tallied_pass_hat_k
from toolevals.runs.models import Transcript
from toolevals.workspace.models import JobState

# Conversations run in threads, whose connections see only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]
TRIALS = 4
# What the agent does with an example, by its number.
KINDS = ("right", "parallel", "recovers", "malformed", "flaky", "greets", "wrong", "gives_up")
SENT = {"tool": STATUS, "result": {"state": "sent"}}
DOWN = {"tool": STATUS, "fault": "503", "times": 1}
RIGHT = (STATUS, json.dumps({"order_id": "ORD-1"}))


def rows(examples: int) -> list[dict[str, Any]]:
    """Return the examples: each says its kind, which the agent reads and the graders do not."""
    found = []
    for number in range(examples):
        kind = KINDS[number % len(KINDS)]
        row = example(f"ex-{number:03}", f"{kind} {number}", None if kind == "greets" else STATUS, bucket=kind)
        simulation: dict[str, Any] = {"results": [SENT]}
        if kind in ("recovers", "gives_up"):
            simulation["faults"] = [DOWN]
        row["input"]["simulation"] = simulation
        found.append(row)
    return found


class Agent:
    """Plays each kind; refuses every fiftieth request for now. What is flaky is right in three trials of four."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests = 0
        self._tries: Counter[str] = Counter()
        self.refused = 0

    def __call__(self, body: dict[str, Any]) -> Any:
        with self._lock:
            self._requests += 1
            if self._requests % 50 == 0:
                self.refused += 1
                return Trouble(429, '{"error": {"message": "later"}}', Retry_After="0")
        request, newest = body["messages"][0]["content"], body["messages"][-1]
        if newest["role"] == "tool":
            return self._after(request.split()[0], newest["content"])
        return self._first(request)

    def _first(self, request: str) -> Any:
        kind = request.split(maxsplit=1)[0]
        if kind == "flaky":
            with self._lock:
                self._tries[request] += 1
                kind = "wrong" if self._tries[request] == 1 else "right"
        if kind == "greets":
            return says("How can I help?")
        if kind == "parallel":
            return calls(RIGHT, RIGHT)
        if kind == "malformed":
            return calls((STATUS, '{"order_id": '))
        return calls((STATUS, '{"order_id": "ORD-9"}')) if kind == "wrong" else calls(RIGHT)

    def _after(self, kind: str, result: str) -> Any:
        if "503" in result and kind == "recovers":
            return calls(RIGHT)
        return says("I could not look up your order: the service is down." if "503" in result else "It was sent.")


@pytest.mark.parametrize(("stream", "examples"), [(False, 200), (True, 40)])
def test_an_agent_is_run_over_the_protocol_and_graded_on_every_layer(project, run_jobs, stream, examples):
    agent = Agent()
    with chat_server(agent) as server:
        run = live_run(
            project,
            version_of(project, rows(examples)),
            server,
            trials=TRIALS,
            options={"stream": stream},
            settings={"concurrency": 8},
        )
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert agent.refused > 0
    transcripts = Transcript.objects.of_run(run)
    assert transcripts.count() == examples * TRIALS
    assert not transcripts.errored().exists()
    cases = cases_of(run.grading)
    by_kind: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for case in cases.values():
        by_kind[case.bucket][case.outcome] += 1
    each = examples // len(KINDS) * TRIALS
    assert {kind: dict(counts) for kind, counts in by_kind.items()} == {
        "right": {"passed": each},
        "parallel": {"failed": each},
        # What was tried again after a 503 counts once.
        "recovers": {"passed": each},
        "malformed": {"failed": each},
        "flaky": {"passed": each * 3 // 4, "failed": each // 4},
        "greets": {"passed": each},
        "wrong": {"failed": each},
        "gives_up": {"passed": each},
    }
    assert {case.tag for case in cases.values() if case.bucket == "malformed"} == {"MALFORMED_OUTPUT"}
    assert {case.recovery for case in cases.values() if case.bucket == "recovers"} == {"passed"}
    # It says that the tool is down, which is honest.
    assert {case.recovery for case in cases.values() if case.bucket == "gives_up"} == {"passed"}
    assert {case.arguments for case in cases.values() if case.bucket == "wrong"} == {"failed"}
    assert {case.selection for case in cases.values() if case.bucket == "wrong"} == {"passed"}
    # Four kinds of eight are right in every trial; what is flaky in three of four, and never in all four.
    trials: dict[str, list[bool | None]] = {}
    for (name, _), case in cases.items():
        trials.setdefault(name, []).append(case.outcome == "passed")
    assert tallied_pass_hat_k(tallies_of(trials), 4).value == pytest.approx(4 / 8)
    assert tallied_pass_hat_k(tallies_of(trials), 1).value == pytest.approx((4 + 3 / 4) / 8)
