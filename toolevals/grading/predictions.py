"""Predictions from JSON rows: structured calls, messages, steps, or text to be parsed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from toolevals.grading.documents import require_json, require_valid
from toolevals.grading.parsing import call_in, calls_in_text, last_words, read_run, transcript_in
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.transcripts import with_few_calls

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a subject did on one example in one trial, counted from 0."""

    external_id: str
    trial: int
    transcript: Transcript


def read_prediction(row: Any) -> Prediction:
    """Read a row (`schemas/prediction.v1.json`). Raises InvalidDocument.

    Structured calls come before text: text is parsed only where there are none. `messages` are what the subject said
    and did, without the example's own. A call that cannot be read becomes a MalformedCall and is graded as such. What
    the row says of answer, usage, latency and error goes before what its messages say.
    """
    require_json(row)
    require_valid(row, "prediction")
    _require_one(row)
    read = _transcript(row)
    said = {
        key: row[key] for key in ("answer", "usage", "latency_ms", "error", "state", "ended", "recorded") if key in row
    }
    return Prediction(row["id"], row.get("trial", 0), replace(read, **said))


def _require_one(row: dict[str, Any]) -> None:
    given = [key for key in ("messages", "steps", "tool_calls") if row.get(key)]
    if len(given) > 1:
        raise InvalidDocument.at(f"/{given[1]}", f"stands beside {given[0]}: keep one")


def _transcript(row: dict[str, Any]) -> Transcript:
    if row.get("messages"):
        return _below("/messages", transcript_in, row["messages"], row.get("format"))
    if row.get("steps"):
        return _below("/steps", read_run, row["steps"]).transcript
    messages = with_few_calls(_messages(row), "/tool_calls")
    return Transcript(messages, last_words(messages))


def _below(prefix: str, read: Callable[..., _Read], *given: Any) -> _Read:
    try:
        return read(*given)
    except InvalidDocument as error:
        raise error.below(prefix) from None


def _messages(row: dict[str, Any]) -> tuple[Message, ...]:
    text = row.get("text")
    calls = tuple(call_in(item) for item in row.get("tool_calls") or ())
    if not calls and text is not None:
        calls = calls_in_text(text)
    return (Message("assistant", text, calls),) if calls or text is not None else ()
