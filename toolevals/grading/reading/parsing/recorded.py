"""Reads recorded runs of public simulators, tau-bench and tau2-bench, as transcripts with their outcome.

Sources: https://github.com/sierra-research/tau-bench (`{task_id, trial, reward, info, traj}`) and
https://github.com/sierra-research/tau2-bench (`{simulations: [{task_id, trial, messages, reward_info}]}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from toolevals.grading.reading.parsing.content import result_text, text_in
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, measures_in
from toolevals.grading.reading.parsing.json_calls import ARGUMENT_KEYS, call_in, identifier_in
from toolevals.grading.reading.parsing.losses import Account, Loss
from toolevals.grading.reading.parsing.messages import last_words, read_transcript
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.documents import require_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.transcripts import with_few_calls
from toolevals.json_types import JsonObject

# How tau-bench's tools begin what they answer when they fail.
_TAU_ERROR = "Error"
_MOST = 1e9
_LONGEST_ENDING = 60
# How tau2-bench says that a conversation was cut before its end.
_TAU2_CUTS = {"max_steps": "steps", "too_many_errors": "errors", "agent_error": "broken"}
# What a message of tau2-bench has: read, or nothing that was said or done. Its `raw_data` is a loss.
_TAU2_MESSAGE = frozenset({
    "role", "content", "id", "tool_calls", "requestor", "error", "turn_idx", "timestamp", "raw_data", *MEASURE_KEYS,
})  # fmt: skip
_TAU2_ARGUMENTS = frozenset({"function", "custom", "malformed", *ARGUMENT_KEYS})
_TAU2_CALL = frozenset({"id", "name", "type", "requestor"}) | _TAU2_ARGUMENTS


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One recorded trial. `reward` is the benchmark's outcome, 1.0 for success; `trial` counts from 0.

    A trial that the benchmark has not rewarded has None, which is no failure. The transcript says why it was cut, where
    it was, and holds reward and ending as recorded facts. `policy` is the system prompt that the agent had; the
    transcript begins after it. `losses` are the parts of its messages that were left out.
    """

    task_id: str
    trial: int
    transcript: Transcript
    reward: float | None
    policy: str = ""
    losses: tuple[Loss, ...] = ()


def tau_runs(document: object) -> Iterator[RecordedRun]:
    """Yield the runs of a tau-bench result file: its list of records, or an object with `records`.

    A tool's message that begins with "Error" is an error. Where rewards were shaped, the reward is the 0/1 outcome
    next to them (`info.reward_info.components.base_success`). A run that the benchmark never rewarded (`info` without
    `reward_info`) was cut at its limit of steps. Raises InvalidDocument.
    """
    policy = tau_policy(document)
    for run in _runs(document, "records", _tau_run):
        yield replace(run, policy=run.policy or policy)


def tau2_runs(document: object) -> Iterator[RecordedRun]:
    """Yield the runs of a tau2-bench result file, or of its list of simulations.

    Calls that the simulated user made on its own device are not the agent's: they and their results are losses, as what
    a provider answered (`raw_data`) and what tau2-bench does not have. Raises InvalidDocument, also where something
    looks like a call that is kept elsewhere.
    """
    policy = tau2_policy(document)
    for run in _runs(document, "simulations", _tau2_run):
        yield replace(run, policy=run.policy or policy)


def is_tau2(document: object) -> bool:
    """Return whether a document is one of tau2-bench: of simulations, of tasks, or both."""
    if isinstance(document, dict):
        return "simulations" in document or "tasks" in document
    return isinstance(document, list) and any(isinstance(each, dict) and "user_scenario" in each for each in document)


def tau_policy(document: object) -> str:
    """Return the system prompt next to all records of a tau-bench file; empty where there is not just one."""
    prompts = document.get("system") if isinstance(document, dict) else None
    return prompts[0] if isinstance(prompts, list) and len(prompts) == 1 and isinstance(prompts[0], str) else ""


def tau2_policy(document: object) -> str:
    """Return the policy that a tau2-bench file was recorded with."""
    policy = _at(document, "info", "environment_info", "policy")
    return policy if isinstance(policy, str) else ""


def _runs(document: object, key: str, read: Callable[[JsonObject], RecordedRun]) -> Iterator[RecordedRun]:
    records = document.get(key) if isinstance(document, dict) else document
    prefix = f"/{key}" if isinstance(document, dict) else ""
    if not isinstance(records, list):
        raise InvalidDocument.at(prefix, "is not a list of recorded runs")
    for place, record in enumerate(records):
        if not isinstance(record, dict):
            raise InvalidDocument.at(f"{prefix}/{place}", "is not an object")
        try:
            require_json(record)
            yield read(record)
        except InvalidDocument as error:
            raise error.below(f"{prefix}/{place}") from None


def _tau_run(record: JsonObject) -> RecordedRun:
    messages = record.get("traj")
    if not isinstance(messages, list):
        raise InvalidDocument.at("/traj", "is not a list of messages")
    try:
        read = read_transcript(messages, "openai_chat")
    except InvalidDocument as error:
        raise error.below("/traj") from None
    policy, said = _split(read.transcript.messages)
    marked = tuple(replace(message, is_error=_is_tau_error(message)) for message in said)
    outcome = _at(record, "info", "reward_info", "components", "base_success")
    reward = outcome if outcome is not None else record.get("reward")
    info = record.get("info")
    cut = isinstance(info, dict) and "task" in info and not info.get("reward_info")
    made = replace(read.transcript, messages=marked, ended="steps" if cut else None)
    return replace(
        _run(record, made, reward, "/reward", {"source": "tau-bench", "ending": "max_steps" if cut else ""}),
        policy=policy,
        losses=tuple(loss.below("/traj") for loss in read.losses),
    )


def _split(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """Return the system prompt that a trajectory begins with, and what was said after it."""
    if messages and messages[0].role == "system":
        return messages[0].content or "", messages[1:]
    return "", messages


def _is_tau_error(message: Message) -> bool:
    return message.role == "tool" and (message.content or "").startswith(_TAU_ERROR)


def _tau2_run(record: JsonObject) -> RecordedRun:
    given = record.get("messages")
    if given is None and isinstance(record.get("ticks"), list):
        raise InvalidDocument.at("/ticks", "is a spoken conversation without messages: only written ones are read")
    if not isinstance(given, list):
        raise InvalidDocument.at("/messages", "is not a list of messages")
    messages: list[Message] = []
    account = Account("tau2-bench", "`tool_calls` of the assistant's messages")
    for place, item in enumerate(given):
        if not isinstance(item, dict) or not isinstance(item.get("role"), str):
            raise InvalidDocument.at(f"/messages/{place}", "is not a message with a role")
        if item["role"] == "tool" and item.get("requestor") == "user":
            account.lost(f"/messages/{place}", "result of a call of the user")
        else:
            messages.append(_tau2_message(item, f"/messages/{place}", account))
    policy, said = _split(with_few_calls(messages, "/messages"))
    reward = _at(record, "reward_info", "reward")
    ending = record.get("termination_reason")
    ending = ending[:_LONGEST_ENDING] if isinstance(ending, str) else ""
    made = Transcript(said, last_words(said), usage=_usage(said), ended=_TAU2_CUTS.get(ending))
    return replace(
        _run(record, made, reward, "/reward_info/reward", {"source": "tau2-bench", "ending": ending}),
        policy=policy,
        losses=account.losses,
    )


def _usage(messages: Sequence[Message]) -> dict[str, float]:
    """Return the tokens of all the model's steps; nothing where one of them does not tell. A greeting is no step."""
    counts = [each.measures.usage if each.measures else {} for each in messages if each.role == "assistant"]
    steps = counts[1:] if counts and not counts[0] else counts
    if not all(steps):
        return {}
    return {name: sum(step.get(name, 0) for step in steps) for name in dict.fromkeys(chain.from_iterable(steps))}


def _tau2_message(item: JsonObject, pointer: str, account: Account) -> Message:
    account.rest(item, _TAU2_MESSAGE, pointer)
    if item.get("raw_data"):
        account.lost(f"{pointer}/raw_data", "answer of a provider")
    if item["role"] == "tool":
        return Message(
            "tool",
            result_text(item.get("content")),
            call_id=identifier_in(item, "id"),
            is_error=item.get("error") is True,
            measures=measures_in(item),
        )
    calls = item.get("tool_calls")
    if isinstance(calls, list):
        for place, call in enumerate(calls):
            if item["role"] != "assistant":
                account.lost(f"{pointer}/tool_calls/{place}", "call of the user")
            elif isinstance(call, dict):
                given = not _TAU2_ARGUMENTS.isdisjoint(call)
                account.rest_of_call(call, _TAU2_CALL, given, f"{pointer}/tool_calls/{place}")
    return Message(
        item["role"],
        text_in(item.get("content")),
        tuple(call_in(call) for call in calls) if isinstance(calls, list) and item["role"] == "assistant" else (),
        measures=measures_in(item) if item["role"] == "assistant" else None,
    )


def _run(
    record: JsonObject, transcript: Transcript, reward: object, pointer: str, facts: Mapping[str, str]
) -> RecordedRun:
    if reward is not None and (not isinstance(reward, int | float) or not -_MOST <= reward <= _MOST):
        raise InvalidDocument.at(pointer, "is not a number that is a reward")
    trial = record.get("trial")
    if (task := identifier_in(record, "task_id")) is None:
        raise InvalidDocument.at("/task_id", "is neither text nor a number")
    rewarded = None if reward is None else float(reward)
    said = {} if rewarded is None else {"reward": rewarded}
    made = replace(transcript, recorded=said | {name: fact for name, fact in facts.items() if fact})
    return RecordedRun(task, trial if isinstance(trial, int) else 0, made, rewarded)


def _at(value: object, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
