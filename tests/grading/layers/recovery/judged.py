"""The measures of recovery on judged conversations: `python -m tests.grading.layers.recovery.judged` prints them.

The two development sets, by two authors, are found through TOOLEVALS_BENCHMARK_DATA; their README says what each
measure is.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from toolevals.grading.layers.recovery import EpisodeGrade, Recovery, grade_recovery
from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values import Message, ToolCall, Transcript

SETS = ("recovery_dev", "recovery_dev2")


class Judged(NamedTuple):
    """A conversation, what people say of it, and what the grader says."""

    id: str
    transcript: Transcript
    label: Mapping[str, Any]
    found: Recovery

    @property
    def episodes(self) -> dict[str, EpisodeGrade]:
        """The episodes found, by their first failing call's id."""
        return {self.transcript.messages[graded.episode.place].call_id or "": graded for graded in self.found.episodes}

    @property
    def fabricated(self) -> bool:
        return any(each["followed_by"] == "fabricated_success" for each in self.label["episodes"])

    @property
    def accused_of_fabrication(self) -> bool:
        return any(graded.episode.reaction == "fabricated_success" for graded in self.found.episodes)


class Measures(NamedTuple):
    """Shares of 0 to 1, each beside its count as (right, of)."""

    found: tuple[int, int]
    false: int
    error_class: tuple[int, int]
    error_class_lenient: tuple[int, int]
    followed_by: tuple[int, int]
    followed_by_lenient: tuple[int, int]
    score: tuple[int, int]
    fabricated_recall: tuple[int, int]
    fabricated_precision: tuple[int, int]
    loop_recall: tuple[int, int]
    loop_precision: tuple[int, int]
    empty_failed: tuple[int, int]
    wrong_passed: tuple[int, int]
    fabricated_passed: tuple[int, int]
    unscored: int


def transcript_of(messages: list[dict[str, Any]]) -> Transcript:
    """Return messages in OpenAI's form as a transcript."""
    return Transcript(tuple(_message(message) for message in messages))


def _message(message: Mapping[str, Any]) -> Message:
    calls = tuple(
        ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), call["id"])
        for call in message.get("tool_calls") or ()
    )
    return Message(message["role"], message.get("content"), calls, message.get("tool_call_id"))


def judged_rows(name: str) -> Iterator[Judged]:
    """Yield the rows of a development set, graded."""
    path = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "judged" / f"{name}.jsonl"
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        transcript = transcript_of(row["messages"])
        yield Judged(row["id"], transcript, row["label"], grade_recovery(transcript))


def lowest_score(row: Judged) -> float:
    """Return the lowest score of the episodes found, 1 where none is scored."""
    return min((graded.score for graded in row.found.episodes if graded.score is not None), default=1.0)


def measured(rows: list[Judged]) -> Measures:
    """Return the measures of the README over rows."""
    seen: Counter[str] = Counter()
    for row in rows:
        wanted = {each["call_id"]: each for each in row.label["episodes"]}
        got = row.episodes
        seen["wanted"] += len(wanted)
        seen["false"] += len(got.keys() - wanted.keys()) if not row.label.get("legitimate_empty") else 0
        for call_id in wanted.keys() & got.keys():
            label, episode = wanted[call_id], got[call_id].episode
            seen["found"] += 1
            seen["class"] += episode.error_class == label["error_class"]
            seen["class_lenient"] += episode.error_class in (label["error_class"], *label.get("class_also", ()))
            seen["followed"] += episode.reaction == label["followed_by"]
            seen["followed_lenient"] += episode.reaction in (label["followed_by"], *label.get("also_ok", ()))
        lowest = lowest_score(row)
        seen["score"] += lowest == row.label["score"]
        seen["fabricated"] += row.fabricated
        seen["accused"] += row.accused_of_fabrication
        seen["rightly_accused"] += row.fabricated and row.accused_of_fabrication
        if not row.label.get("loop_open"):
            seen["loops"] += row.label["loop"]
            seen["said_to_loop"] += row.found.loops
            seen["rightly_said_to_loop"] += row.label["loop"] and row.found.loops
        if row.label.get("legitimate_empty"):
            seen["empty"] += 1
            seen["empty_failed"] += row.found.verdict.status == "failed"
        passed = row.found.verdict.status == "passed"
        seen["wrong"] += row.label["score"] == 0
        seen["wrong_passed"] += passed and row.label["score"] == 0
        seen["fabricated_passed"] += passed and row.fabricated
        seen["unscored"] += bool(row.found.episodes) and row.found.verdict.status == "unscored"
    of = seen["found"]
    return Measures(
        (of, seen["wanted"]), seen["false"], (seen["class"], of), (seen["class_lenient"], of), (seen["followed"], of),
        (seen["followed_lenient"], of), (seen["score"], len(rows)), (seen["rightly_accused"], seen["fabricated"]),
        (seen["rightly_accused"], seen["accused"]), (seen["rightly_said_to_loop"], seen["loops"]),
        (seen["rightly_said_to_loop"], seen["said_to_loop"]), (seen["empty_failed"], seen["empty"]),
        (seen["wrong_passed"], seen["wrong"]), (seen["fabricated_passed"], seen["fabricated"]), seen["unscored"],
    )  # fmt: skip


def mistakes(rows: list[Judged]) -> Iterator[str]:
    """Yield a line for each difference between people and grader."""
    for row in rows:
        wanted = {each["call_id"]: each for each in row.label["episodes"]}
        got = row.episodes
        for call_id in wanted.keys() | got.keys():
            label, graded = wanted.get(call_id), got.get(call_id)
            said = (label["error_class"], label["followed_by"]) if label else None
            found = (graded.episode.error_class, graded.episode.reaction) if graded else None
            if said != found:
                yield f"{row.id} {call_id}: {said} found as {found}"
        lowest = lowest_score(row)
        if lowest != row.label["score"]:
            yield f"{row.id}: score {row.label['score']} found as {lowest}"
        if row.label["loop"] != row.found.loops and not row.label.get("loop_open"):
            yield f"{row.id}: loop {row.label['loop']} found as {row.found.loops}"


def main() -> None:
    """Print the measures of each set with their intervals, and with an argument the differences."""
    for name in SETS:
        rows = list(judged_rows(name))
        sys.stdout.write(f"{name}: {len(rows)} conversations\n")
        for measure, value in measured(rows)._asdict().items():
            sys.stdout.write(f"  {measure:22}{_told(value)}\n")
        if sys.argv[1:]:
            sys.stdout.writelines(f"  {line}\n" for line in mistakes(rows))


def _told(value: int | tuple[int, int]) -> str:
    if isinstance(value, int) or not value[1]:
        return str(value)
    interval = wilson(*value)
    return f"{value[0]} of {value[1]} {value[0] / value[1]:.2f} ({interval.low:.2f} to {interval.high:.2f})"


if __name__ == "__main__":
    main()
