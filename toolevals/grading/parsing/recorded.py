"""Recorded runs of public simulators, tau-bench and tau2-bench, as transcripts with their outcome.

Sources: https://github.com/sierra-research/tau-bench (`{task_id, trial, reward, info, traj}`) and
https://github.com/sierra-research/tau2-bench (`{simulations: [{task_id, trial, messages, reward_info}]}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from toolevals.grading.documents import require_json
from toolevals.grading.parsing.content import result_text, text_in
from toolevals.grading.parsing.json_calls import call_in, identifier_in
from toolevals.grading.parsing.measures import measures_in
from toolevals.grading.parsing.messages import last_words, transcript_in
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.transcripts import with_few_calls

# How tau-bench's tools begin what they answer when they fail.
_TAU_ERROR = "Error"
_MOST = 1e9


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One recorded trial. `reward` is the benchmark's outcome, 1.0 for success; `trial` counts from 0."""

    task_id: str
    trial: int
    transcript: Transcript
    reward: float


def tau_runs(document: Any) -> Iterator[RecordedRun]:
    """Yield the runs of a tau-bench result file: its list of records, or an object with `records`.

    A tool's message that begins with "Error" is an error. Where rewards were shaped, the reward is the 0/1 outcome
    beside them (`info.reward_info.components.base_success`). Raises InvalidDocument.
    """
    yield from _runs(document, "records", _tau_run)


def tau2_runs(document: Any) -> Iterator[RecordedRun]:
    """Yield the runs of a tau2-bench result file, or of its list of simulations.

    Calls that the simulated user made on its own device are not the agent's and are left out, with their results.
    Raises InvalidDocument.
    """
    yield from _runs(document, "simulations", _tau2_run)


def _runs(document: Any, key: str, read: Callable[[dict[str, Any]], RecordedRun]) -> Iterator[RecordedRun]:
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


def _tau_run(record: dict[str, Any]) -> RecordedRun:
    messages = record.get("traj")
    if not isinstance(messages, list):
        raise InvalidDocument.at("/traj", "is not a list of messages")
    try:
        transcript = transcript_in(messages, "openai_chat")
    except InvalidDocument as error:
        raise error.below("/traj") from None
    marked = tuple(replace(message, is_error=_is_tau_error(message)) for message in transcript.messages)
    outcome = _at(record, "info", "reward_info", "components", "base_success")
    reward = outcome if outcome is not None else record.get("reward")
    return _run(record, replace(transcript, messages=marked), reward, "/reward")


def _is_tau_error(message: Message) -> bool:
    return message.role == "tool" and (message.content or "").startswith(_TAU_ERROR)


def _tau2_run(record: dict[str, Any]) -> RecordedRun:
    given = record.get("messages")
    if not isinstance(given, list):
        raise InvalidDocument.at("/messages", "is not a list of messages")
    messages: list[Message] = []
    for place, item in enumerate(given):
        if not isinstance(item, dict) or not isinstance(item.get("role"), str):
            raise InvalidDocument.at(f"/messages/{place}", "is not a message with a role")
        if item["role"] != "tool" or item.get("requestor") != "user":
            messages.append(_tau2_message(item))
    made = with_few_calls(messages, "/messages")
    reward = _at(record, "reward_info", "reward")
    return _run(record, Transcript(made, last_words(made)), reward, "/reward_info/reward")


def _tau2_message(item: dict[str, Any]) -> Message:
    if item["role"] == "tool":
        return Message(
            "tool",
            result_text(item.get("content")),
            call_id=identifier_in(item, "id"),
            is_error=item.get("error") is True,
            measures=measures_in(item),
        )
    calls = item.get("tool_calls") if item["role"] == "assistant" else None
    return Message(
        item["role"],
        text_in(item.get("content")),
        tuple(call_in(call) for call in calls) if isinstance(calls, list) else (),
        measures=measures_in(item) if item["role"] == "assistant" else None,
    )


def _run(record: dict[str, Any], transcript: Transcript, reward: Any, pointer: str) -> RecordedRun:
    if not isinstance(reward, int | float) or not -_MOST <= reward <= _MOST:
        raise InvalidDocument.at(pointer, "is not a number that is a reward")
    trial = record.get("trial")
    if (task := identifier_in(record, "task_id")) is None:
        raise InvalidDocument.at("/task_id", "is neither text nor a number")
    return RecordedRun(task, trial if isinstance(trial, int) else 0, transcript, float(reward))


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
