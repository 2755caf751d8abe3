"""Reads the recorded runs of two public domains with their golds, in this process, and plants errors in the golds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from labeling.imports.readers.recorded_tasks import tau2_expectation
from reports.analyses.agent_evidence import Trial, Voice
from reports.suspects.agent_evidence import refused_calls
from reports.suspects.points import points_of
from tests.reports.recorded import airline, retail
from tests.reports.recorded.loading import RUNS, TOOLS
from toolevals.agents.code.states import SharedState
from toolevals.agents.replay import GOLD_REFUSED, Executions
from toolevals.agents.worlds import ToolAnswer, World
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.reading.parsing.recorded import tau2_runs, tau_runs
from toolevals.grading.values import Expectation, ToolCall, Transcript

DATABASES = {"airline": "db_airline_tau1_at_run.json.gz", "retail": "db_retail_tau1.json.gz"}
OTHERS = {
    "airline": ("gpt-4o", "tau_gpt-4o_airline.slim.json.gz"),
    "retail": ("grok-3", "tau_grok-3_retail_flaky503.slim.json.gz"),
}
KINDS = ("value", "id", "added", "missing", "tool")


class InProcess:
    """A domain's tools in this process."""

    def __init__(self, database: Mapping[str, Any], tools: Mapping[str, Callable[..., Any]]) -> None:
        self._shared, self._tools = SharedState(database), tools

    @contextmanager
    def world(self, _: Mapping[str, Any]) -> Iterator[World]:
        yield _World(self._shared, self._tools)


class _World:
    def __init__(self, shared: SharedState, tools: Mapping[str, Callable[..., Any]]) -> None:
        self._shared, self._tools = shared, tools
        self._state = shared.begin()

    def call(self, call: ToolCall) -> ToolAnswer:
        try:
            said = self._tools[call.name](self._state, **call.arguments)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its refusal
            return ToolAnswer(f"Error: {error}", is_error=True)
        text = said if isinstance(said, str) else json.dumps(said)
        return ToolAnswer(text, is_error=text.startswith("Error"))

    def state(self) -> Mapping[str, Any]:
        return self._shared.end(self._state)


@dataclass(slots=True)
class Task:
    """A task with its gold, and what each voice did."""

    name: str
    document: Mapping[str, Any]
    transcripts: dict[str, list[Transcript]] = field(default_factory=dict)

    @property
    def actions(self) -> list[dict[str, Any]]:
        return list(self.document["evaluation_criteria"].get("actions") or [])

    def with_actions(self, actions: Sequence[Mapping[str, Any]]) -> Task:
        criteria = {**self.document["evaluation_criteria"], "actions": list(actions)}
        return Task(self.name, {**self.document, "evaluation_criteria": criteria}, self.transcripts)


class Domain:
    """The tasks of a domain, graded in its simulator."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name

        def read(file: str) -> Any:
            return json.loads(gzip.decompress((folder / file).read_bytes()))

        tools = airline.TOOLS if name == "airline" else retail.TOOLS
        self._executions = Executions(InProcess(read(DATABASES[name]), tools))
        self.tasks = {str(task["id"]): Task(str(task["id"]), task) for task in read(f"gold_tau2_v0_{name}.json.gz")}
        for model, file in RUNS[name].items():
            for run in tau2_runs(read(file)):
                self.tasks[run.task_id].transcripts.setdefault(model, []).append(run.transcript)
        model, file = OTHERS[name]
        records = read(file)
        for record, run in zip(records["records"], tau_runs(records), strict=True):
            if (joined := self._joined(record["info"]["task"])) is not None:
                joined.transcripts.setdefault(model, []).append(run.transcript)
        self.reading = frozenset(TOOLS[name][0])

    def _joined(self, task: Mapping[str, Any]) -> Task | None:
        """Return the task of the same person that expects the same; ids of the two benchmarks differ."""
        actions = [(each["name"], each["kwargs"]) for each in task["actions"]]
        found = [
            one
            for one in self.tasks.values()
            if [(each["name"], each["arguments"]) for each in one.actions] == actions
            and task["user_id"] in json.dumps(one.document["user_scenario"]) + json.dumps(one.actions)
        ]
        return found[0] if len(found) == 1 else None

    def effect(self, tool: str) -> str:
        return "reads" if tool in self.reading else "writes"

    def voices(self, task: Task) -> list[Voice]:
        """Return what the voices say of a task's gold, as graded cases do."""
        expectation, _ = tau2_expectation(task.document, ordered=False)
        assert expectation is not None
        compiled, found = compile_case(expectation, ()), []
        for model, transcripts in sorted(task.transcripts.items()):
            voice = Voice(model)
            for number, transcript in enumerate(transcripts):
                voice.trials.append(self._trial(f"{task.name}-{model}-{number}", compiled, expectation, transcript))
            found.append(voice)
        return found

    def _trial(self, case: str, compiled: Any, expectation: Expectation, transcript: Transcript) -> Trial:
        key = json.dumps(expectation.to_document(), sort_keys=True)
        effect = self._executions.effect(key, {}, expectation, transcript)
        graded = grade(compiled, transcript, effect=effect)
        detail, statuses = graded.to_document(), graded.statuses
        refused = list(refused_calls(transcript.to_document(), expectation.to_document(), self.effect))
        reason = detail["verdicts"]["execution"].get("reason", "")
        if statuses["execution"] == "unscored" and reason.startswith(GOLD_REFUSED):
            refused.append(reason.removeprefix(GOLD_REFUSED).strip())
        passed = statuses["outcome"] == "passed"
        failed = statuses["outcome"] == "failed" and statuses["execution"] != "passed"
        found = frozenset(points_of(detail, self.effect)) if failed else frozenset()
        same = not passed and statuses["execution"] == "passed"
        return Trial(case, 1, passed and not refused, same, found, tuple(refused))


def planted(domain: Domain, seed: int) -> dict[str, tuple[Task, str]]:
    """Return a tenth of the tasks that a voice speaks on, each with one error of a kind in its gold."""
    random = Random(f"{domain.name} {seed}")
    heard = [task for task in domain.tasks.values() if task.transcripts]
    writes = [each for task in heard for each in task.actions if each["name"] not in domain.reading]
    chosen = random.sample(heard, len(heard))
    found: dict[str, tuple[Task, str]] = {}
    for number, task in enumerate(chosen):
        if len(found) >= round(len(heard) / 10):
            break
        for kind in (KINDS[(number + step) % len(KINDS)] for step in range(len(KINDS))):
            actions = _wrong(kind, task.actions, writes, domain.reading, random)
            if actions is not None:
                found[task.name] = (task.with_actions(actions), kind)
                break
    return found


def _wrong(
    kind: str, actions: list[dict[str, Any]], writes: list[dict[str, Any]], reading: Any, random: Random
) -> list[dict[str, Any]] | None:
    own = [place for place, each in enumerate(actions) if each["name"] not in reading]
    if kind == "added":
        known = [json.dumps(each["arguments"], sort_keys=True) for each in actions]
        others = [each for each in writes if json.dumps(each["arguments"], sort_keys=True) not in known]
        return [*actions, random.choice(others)]
    if not own:
        return None
    place = random.choice(own)
    each = actions[place]
    if kind == "missing":
        return actions[:place] + actions[place + 1 :]
    if kind == "tool":
        others = [one for one in writes if one["name"] != each["name"]]
        return [*actions[:place], random.choice(others), *actions[place + 1 :]]
    is_id = kind == "id"
    names = [
        name
        for name, value in each["arguments"].items()
        if (name.endswith(("_id", "_ids")) and name != "user_id") == is_id and _others(each, name, value, writes)
    ]
    if not names:
        return None
    name = random.choice(sorted(names))
    changed = {
        **each,
        "arguments": {**each["arguments"], name: random.choice(_others(each, name, each["arguments"][name], writes))},
    }
    return [*actions[:place], changed, *actions[place + 1 :]]


def _others(each: dict[str, Any], name: str, value: Any, writes: list[dict[str, Any]]) -> list[Any]:
    return [one["arguments"][name] for one in writes if name in one["arguments"] and one["arguments"][name] != value]
