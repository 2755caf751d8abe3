"""Predictions from JSON rows: structured calls, messages, or text to be parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolevals.grading.documents import require_valid
from toolevals.grading.parsing import call_in, calls_in_text, message_in
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import Message, Transcript


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a subject did on one example in one trial, counted from 0."""

    external_id: str
    trial: int
    transcript: Transcript


def read_prediction(row: Any) -> Prediction:
    """Read a row (`schemas/prediction.v1.json`). Raises InvalidDocument.

    Structured calls come before text: text is parsed only where there are none. `messages` are what the subject said
    and did, without the example's own. A call that cannot be read becomes a MalformedCall and is graded as such.
    """
    require_valid(row, "prediction")
    if row.get("messages") and row.get("tool_calls"):
        raise InvalidDocument.at("/tool_calls", "stands beside messages: keep one")
    messages = _messages(row)
    transcript = Transcript(
        messages=messages,
        answer=row["answer"] if "answer" in row else _last_words(messages),
        usage=row.get("usage", {}),
        latency_ms=row.get("latency_ms"),
        error=row.get("error"),
    )
    return Prediction(row["id"], row.get("trial", 0), transcript)


def _messages(row: dict[str, Any]) -> tuple[Message, ...]:
    if row.get("messages"):
        return tuple(message_in(message) for message in row["messages"])
    text = row.get("text")
    calls = tuple(call_in(item) for item in row.get("tool_calls") or ())
    if not calls and text is not None:
        calls = calls_in_text(text)
    return (Message("assistant", text, calls),) if calls or text is not None else ()


def _last_words(messages: tuple[Message, ...]) -> str | None:
    last = messages[-1] if messages else None
    return last.content if last is not None and last.role == "assistant" and not last.calls else None
