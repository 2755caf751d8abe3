"""The hand-checked sample of recorded runs: what was rightly flagged still is, and no more than stated is wrong."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.grading.benchmark import needs_benchmark
from tests.grading.result_use.scoring import rows
from toolevals.grading.result_use import ResultUse, grade_result_use
from toolevals.grading.values import Message, ToolCall, Transcript


def _documents(run: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    (path,) = (Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau").glob(f"{run}.*gz")
    document = json.loads(gzip.decompress(path.read_bytes()))
    if "records" in document:
        for record in document["records"]:
            system = {"role": "system", "content": document["system"][0]}
            messages = [message for message in record["traj"] if message["role"] != "system"]
            yield f"{record['task_id']}-{record['trial']}", [system, *messages]
        return
    policy = {"role": "system", "content": document["info"]["environment_info"]["policy"]}
    for simulation in document["simulations"]:
        yield f"{simulation['task_id']}-{simulation['trial']}", [policy, *simulation["messages"]]


def _message(document: dict[str, Any]) -> Message:
    calls = []
    for item in document.get("tool_calls") or ():
        function = item.get("function", item)
        arguments = function["arguments"]
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
        calls.append(ToolCall(function["name"], parsed if isinstance(parsed, dict) else {}, item.get("id")))
    is_tool = document["role"] == "tool"
    return Message(
        document["role"],
        document.get("content"),
        tuple(calls),
        (document.get("tool_call_id") or document.get("id")) if is_tool else None,
        is_tool and bool(document.get("error")),
    )


def _uses(sample: list[dict[str, Any]]) -> dict[tuple[str, str], ResultUse]:
    wanted = {(row["run"], row["trial"]) for row in sample}
    uses = {}
    for run in {row["run"] for row in sample}:
        for trial, messages in _documents(run):
            if (run, trial) in wanted:
                transcript = Transcript(tuple(_message(message) for message in messages))
                uses[run, trial] = grade_result_use(transcript)
    return uses


def _is_raised(row: dict[str, Any], use: ResultUse) -> bool:
    if "start" not in row:
        return any(finding.kind == row["finding"] and finding.message == row["message"] for finding in use.findings)
    flagged = {place for finding in use.findings for place in finding.claims}
    return any(
        claim.message == row["message"] and claim.start == row["start"] and place in flagged
        for place, claim in enumerate(use.claims)
    )


@needs_benchmark
def test_the_sample_of_recorded_runs() -> None:
    sample = rows("recorded_sample.jsonl")
    uses = _uses(sample)
    flagged = [row for row in sample if "finding" in row and _is_raised(row, uses[row["run"], row["trial"]])]
    right = sum(row["right"] for row in flagged)
    assert right == sum(row["right"] for row in sample if "finding" in row)
    assert right / len(flagged) >= 0.62
    passed = [row for row in sample if "finding" not in row and row["right"]]
    assert not any(_is_raised(row, uses[row["run"], row["trial"]]) for row in passed)
