"""Read recorded runs of tau-bench and tau2-bench as examples: each task a scenario, or each of the agent's turns.

Result files: tau-bench's `[{task_id, trial, reward, info: {task}, traj}]`, tau2-bench's `{info, tasks, simulations}`,
and tau2's list of tasks alone. What the benchmark's own settings say besides (models, addresses, keys) is not read.

The benchmarks replay a task's actions and compare the final states, so that other calls may come, and by default the
actions in any order. A task without actions says nothing about calls: any may come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from labeling.imports.parts import Settings
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.recorded import RecordedRun, tau2_policy, tau2_runs, tau_policy, tau_runs
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec, Trajectory
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.verdicts import read_decided_by
from toolevals.json_types import JsonMapping, JsonObject

# tau-bench compares the end states, and looks for what must be told.
TAU_DECIDED_BY = "end_state+answer"
# What tau2-bench multiplies into a reward -> the part that says the same.
_DECIDES: Mapping[str, str] = {"DB": "end_state", "COMMUNICATE": "answer", "ACTION": "calls"}


TASKS, DECISIONS = "tasks", "decisions"
_MADE = Problem(
    "/tools", "the file does not say which tools there were: they are made of the calls, with any arguments"
)
_BASIS = "/evaluation_criteria/reward_basis"
_PARTS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
Found = tuple[str, ExampleRow | InvalidDocument]


def tau_expectation(task: JsonMapping, ordered: bool) -> Expectation:
    """Return what a tau-bench task expects: `actions` of name and `kwargs`, and `outputs`."""
    actions = _items(task.get("actions"), "/info/task/actions")
    calls = tuple(_call(each, "kwargs", f"/info/task/actions/{place}") for place, each in enumerate(actions))
    return _expectation(calls, ordered, _items(task.get("outputs"), "/info/task/outputs"))


def tau2_expectation(task: JsonMapping, ordered: bool) -> tuple[Expectation | None, str]:
    """Return what a tau2-bench task expects (None where it does not say), and its reasons in words.

    Actions that the simulated user is to make are not the agent's. What only a judge can check stands in the reasons.
    """
    criteria = task.get("evaluation_criteria")
    reasons = _reasons(task, criteria)
    if criteria is None:
        return None, reasons
    if not isinstance(criteria, Mapping):
        raise InvalidDocument.at("/evaluation_criteria", "is not an object")
    actions = _items(criteria.get("actions"), "/evaluation_criteria/actions")
    calls = tuple(
        _call(each, "arguments", f"/evaluation_criteria/actions/{place}")
        for place, each in enumerate(actions)
        if not isinstance(each, Mapping) or each.get("requestor", "assistant") != "user"
    )
    told = _items(criteria.get("communicate_info"), "/evaluation_criteria/communicate_info")
    return _expectation(calls, ordered, told), reasons


def tau2_decided_by(task: JsonMapping) -> tuple[str, tuple[str, ...]]:
    """Return what decides a tau2-bench task by its `reward_basis`, and what of it only its own checks can tell.

    Without a basis it is the end state and the answer, as the benchmark has it by default.
    """
    criteria = task.get("evaluation_criteria")
    basis = criteria.get("reward_basis") if isinstance(criteria, Mapping) else None
    names = [str(each) for each in basis] if isinstance(basis, list) and basis else ["DB", "COMMUNICATE"]
    parts = dict.fromkeys(_DECIDES[each] for each in names if each in _DECIDES)
    return read_decided_by("+".join(parts)), tuple(each for each in names if each not in _DECIDES)


def _expectation(calls: tuple[CallExpectation, ...], ordered: bool, told: list[Any]) -> Expectation:
    trajectory = Trajectory(ordered=calls) if ordered or len(calls) == 1 else Trajectory(unordered=calls)
    texts = [str(each) for each in told if str(each)]
    return Expectation("calls", alternatives=(trajectory,), answer={"contains": texts} if texts else None)


def _call(action: Any, key: str, pointer: str) -> CallExpectation:
    if not isinstance(action, Mapping) or not isinstance(action.get("name"), str) or not action["name"]:
        raise InvalidDocument.at(pointer, "is not an action with a name")
    arguments = action.get(key) or {}
    if not isinstance(arguments, Mapping):
        raise InvalidDocument.at(f"{pointer}/{key}", "is not an object")
    # tau2 may compare some of the arguments only.
    compared = action.get("compare_args")
    names = list(arguments) if compared is None else [name for name in compared if name in arguments]
    matchers = {name: Exact(arguments[name]) for name in names}
    return CallExpectation(action["name"], matchers, additional_arguments=compared is not None)


def _items(value: Any, pointer: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidDocument.at(pointer, "is not a list")
    return value


def _reasons(task: JsonMapping, criteria: Any) -> str:
    description = task.get("description")
    purpose = description.get("purpose") if isinstance(description, Mapping) else description
    judged = criteria.get("nl_assertions") if isinstance(criteria, Mapping) else None
    lines = [purpose] if isinstance(purpose, str) else []
    lines += [each for each in judged if isinstance(each, str)] if isinstance(judged, list) else []
    return "\n".join(lines)


# The options of these formats: what becomes an example, whether expected actions are in order, and what decides a task:
# what the benchmark rewards, or what the dataset says.
OPTIONS: dict[str, tuple[str, ...]] = {
    "examples": (TASKS, DECISIONS),
    "order": ("unordered", "ordered"),
    "decided_by": ("benchmark", "dataset"),
}


def tau_rows(document: Any, settings: Settings) -> Iterator[Found]:
    """Yield pointer and example (or what is wrong) for each task, or each turn, of a tau-bench result file."""
    records, prefix = _list(document, "records")
    if settings.options.get("examples") == DECISIONS:
        yield from _decisions(document, tau_runs, "", settings)
        return
    seen: set[str] = set()
    policy = tau_policy(document)
    tools = _tools_of(settings, lambda: _names_in(tau_runs(document)), (_tau_actions(record) for record in records))
    for place, record in enumerate(records):
        pointer = f"{prefix}/{place}"
        try:
            name, task = _tau_task(record)
            if name not in seen:
                seen.add(name)
                expectation = tau_expectation(task, settings.options.get("order") == "ordered")
                words = _text(task.get("instruction"), "/info/task/instruction")
                content = _content(words, _tau_policy(record) or policy, user_id=task.get("user_id"))
                yield pointer, _decided(_row(f"task-{name}", content, expectation, "", tools), TAU_DECIDED_BY, settings)
        except InvalidDocument as error:
            yield pointer, error.below(pointer)


def tau2_rows(document: Any, settings: Settings) -> Iterator[Found]:
    """Yield the same of a tau2-bench result file, or of a list of its tasks."""
    domain = domain_of(document)
    if settings.options.get("examples") == DECISIONS:
        yield from _decisions(document, tau2_runs, domain, settings)
        return
    policy = tau2_policy(document)
    tasks, prefix = ([document], "") if _is_task(document) else _list(document, "tasks")
    runs = document if isinstance(document, Mapping) and "simulations" in document else {"simulations": []}
    tools = _tools_of(settings, lambda: _names_in(tau2_runs(runs)), (_tau2_actions(task) for task in tasks))
    for place, task in enumerate(tasks):
        pointer = f"{prefix}/{place}"
        try:
            yield pointer, _tau2_row(task, domain, policy, tools, settings)
        except InvalidDocument as error:
            yield pointer, error.below(pointer)


def _is_task(document: Any) -> bool:
    return isinstance(document, Mapping) and "user_scenario" in document and "tasks" not in document


def _tau2_row(task: Any, domain: str, policy: str, tools: _Tools, settings: Settings) -> ExampleRow:
    if not isinstance(task, Mapping) or not isinstance(task.get("id"), str | int):
        raise InvalidDocument.at("/id", "is not a task with an id")
    scenario = task.get("user_scenario")
    instructions = scenario.get("instructions") if isinstance(scenario, Mapping) else None
    if isinstance(instructions, Mapping):
        said = [part for key in _PARTS if isinstance(part := instructions.get(key), str) and part.strip()]
        domain = domain or str(instructions.get("domain") or "")
    else:
        said = [_text(instructions, "/user_scenario/instructions")]
    expectation, reasons = tau2_expectation(task, settings.options.get("order") == "ordered")
    content = _content("\n\n".join(said), policy, domain=domain or None, initial_state=task.get("initial_state"))
    name = f"{domain}-{task['id']}" if domain else f"task-{task['id']}"
    decided_by, others = tau2_decided_by(task)
    row = _decided(_row(name, content, expectation, reasons, tools), decided_by, settings)
    own = (Problem(_BASIS, f"{other} is checked by the benchmark alone: it decides nothing here") for other in others)
    return replace(row, losses=(*row.losses, *own))


def _decided(row: ExampleRow, decided_by: str, settings: Settings) -> ExampleRow:
    """Return a task with what decides it there, unless what the dataset says is asked for."""
    is_asked = settings.options.get("decided_by") != "dataset" and row.expectation is not None
    return replace(row, decided_by=decided_by) if is_asked else row


def _decisions(
    document: Any, runs: Callable[[Any], Iterator[RecordedRun]], domain: str, settings: Settings
) -> Iterator[Found]:
    """Yield every turn at which the agent called something, still to be labelled: what it did is no gold."""
    tools = _tools_of(settings, lambda: _names_in(runs(document)), ())
    for number, run in enumerate(runs(document)):
        messages = [message.to_document() for message in run.transcript.messages]
        policy = [{"role": "system", "content": run.policy}] if run.policy else []
        for turn, message in enumerate(run.transcript.messages):
            if message.role == "assistant" and message.calls and turn:
                name = "-".join([domain or "task", run.task_id, str(run.trial), str(turn)])
                yield f"/{number}", _row(name, {"messages": [*policy, *messages[:turn]]}, None, "", tools)


class _Tools:
    """The tools that a file's examples offer: the dataset's, or made of the calls where it has none."""

    def __init__(self, names: list[str] | None) -> None:
        self.specs = None if names is None else [ToolSpec(name) for name in names]


def _tools_of(settings: Settings, called: Callable[[], set[str]], expected: Any) -> _Tools:
    if settings.tools is not None:
        return _Tools(None)
    names = called()
    for actions in expected:
        names.update(actions)
    return _Tools(sorted(names))


def _names_in(runs: Iterator[RecordedRun]) -> set[str]:
    return {call.name for run in runs for call in run.transcript.calls if call.name}


def _tau_actions(record: Any) -> Iterator[str]:
    task = record.get("info", {}).get("task") if isinstance(record, dict) else None
    yield from _action_names(task.get("actions") if isinstance(task, dict) else None)


def _tau2_actions(task: Any) -> Iterator[str]:
    criteria = task.get("evaluation_criteria") if isinstance(task, dict) else None
    yield from _action_names(criteria.get("actions") if isinstance(criteria, dict) else None)


def _action_names(actions: Any) -> Iterator[str]:
    for action in actions if isinstance(actions, list) else ():
        # What the simulated user is to call on a device of their own is no tool of the agent.
        if (
            isinstance(action, dict)
            and action.get("requestor", "assistant") != "user"
            and isinstance(name := action.get("name"), str)
        ):
            yield name


def _row(name: str, content: JsonObject, expectation: Expectation | None, rationale: str, tools: _Tools) -> ExampleRow:
    losses = () if tools.specs is None else (_MADE,)
    return ExampleRow(name, content, tools.specs, expectation, rationale, {}, losses)


def _tau_task(record: Any) -> tuple[str, JsonMapping]:
    if not isinstance(record, Mapping) or not isinstance(record.get("task_id"), str | int):
        raise InvalidDocument.at("/task_id", "is neither text nor a number")
    info = record.get("info")
    task = info.get("task") if isinstance(info, Mapping) else None
    if not isinstance(task, Mapping):
        raise InvalidDocument.at("/info/task", "is not a task")
    return str(record["task_id"]), task


def _content(words: str, policy: str, **context: Any) -> JsonObject:
    """Return what an example shows: the policy that the file was recorded with, and the user's instruction."""
    known = {name: value for name, value in context.items() if value}
    messages = [{"role": "system", "content": policy}] if policy else []
    return {"messages": [*messages, {"role": "user", "content": words}]} | ({"context": known} if known else {})


def _tau_policy(record: JsonMapping) -> str:
    trajectory = record.get("traj")
    first = trajectory[0] if isinstance(trajectory, list) and trajectory else None
    said = first.get("content") if isinstance(first, Mapping) and first.get("role") == "system" else None
    return said if isinstance(said, str) else ""


def _text(value: Any, pointer: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidDocument.at(pointer, "is not text")
    return value


def _list(document: Any, key: str) -> tuple[list[Any], str]:
    items = document.get(key) if isinstance(document, Mapping) else document
    prefix = f"/{key}" if isinstance(document, Mapping) else ""
    if not isinstance(items, list):
        raise InvalidDocument.at(prefix, f"is not a list of {key}")
    return items, prefix


def domain_of(document: Any) -> str:
    """Return the domain that a tau2-bench file says it was recorded in; empty where it says none."""
    info = document.get("info") if isinstance(document, Mapping) else None
    world = info.get("environment_info") if isinstance(info, Mapping) else None
    name = world.get("domain_name") if isinstance(world, Mapping) else None
    return name if isinstance(name, str) else ""
