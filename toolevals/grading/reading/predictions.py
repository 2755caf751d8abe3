"""Reads predictions from JSON rows: structured calls, messages, steps, or text to be parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from toolevals.grading.reading.parsing import Loss, ReadTranscript, calls_in_text, last_words, read_run, read_transcript
from toolevals.grading.reading.parsing.calls import calls_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.text import UNHEEDED, goes_on_alone, unheeded, with_text_calls
from toolevals.grading.values import Message, ToolSpec, Transcript
from toolevals.grading.values.documents import require_json, require_valid
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.transcripts import with_few_calls
from toolevals.grading.values.value_classes import value_class
from toolevals.json_types import JsonObject, JsonValue

_Read = TypeVar("_Read")
# What a row says of its transcript in the transcript's own words.
_OF_TRANSCRIPT = ("answer", "usage", "latency_ms", "error", "state", "ended", "recorded", "goal")


@value_class
class Prediction:
    """Holds what an agent did on one example in one trial, counted from 0.

    Of messages also the format that they were read from, why that one, and what was left out, by pointers into the row.
    """

    external_id: str
    trial: int
    transcript: Transcript
    format: str = ""
    why: str = ""
    losses: tuple[Loss, ...] = ()


def read_prediction(
    row: JsonValue, *, message_format: str | None = None, is_json: bool = False, tools: Sequence[ToolSpec] | None = None
) -> Prediction:
    """Read a row (`schemas/prediction.v1.json`). Raises InvalidDocument.

    `message_format` names the format of messages where the row does not; without either it is found. `is_json` says
    that `documents.load_json` has given the row. `tools` are those that the agent was offered, None where no one says.

    Structured calls come before text: text is parsed only where there are none, that of messages too.
    `messages` are what the agent said
    and did, without the example's own. A call that cannot be read becomes a MalformedCall and is graded as such. What
    the row says of answer, usage, latency and error goes before what its messages say.
    """
    if not is_json:
        require_json(row)
    require_valid(row, "prediction")
    _require_one(row)
    read = _read(row, message_format, tools)
    said = {key: row[key] for key in _OF_TRANSCRIPT if key in row}
    transcript = replace(read.transcript, **said) if said else read.transcript
    return Prediction(row["id"], row.get("trial", 0), transcript, read.format, read.why, read.losses)


def _require_one(row: JsonObject) -> None:
    given = [key for key in ("messages", "steps", "tool_calls") if row.get(key)]
    if len(given) > 1:
        raise InvalidDocument.at(f"/{given[1]}", f"cannot be combined with {given[0]}: keep one")


def _read(row: JsonObject, message_format: str | None, tools: Sequence[ToolSpec] | None) -> ReadTranscript:
    if row.get("messages"):
        read = _below("/messages", read_transcript, row["messages"], row.get("format") or message_format)
        made = with_text_calls(read.transcript, tools)
        losses = (*read.losses, *unheeded(made, tools, ""))
        return replace(read, transcript=made, losses=tuple(loss.below("/messages") for loss in losses))
    if row.get("steps"):
        run = _below("/steps", read_run, row["steps"])
        losses = tuple(loss.below("/steps") for loss in run.losses)
        return ReadTranscript(run.transcript, "steps", "the row has `steps`", losses)
    account = Account("a prediction", "`tool_calls`, each with `name` and `arguments`")
    messages = with_few_calls(_messages(row, account, tools), "/tool_calls")
    read_text = not row.get("tool_calls") and bool(messages and messages[0].calls)
    is_alone = read_text and goes_on_alone(row["text"], tools)
    losses = (*account.losses, Loss(UNHEEDED, "/text", 1, "/text")) if is_alone else account.losses
    return ReadTranscript(Transcript(messages, last_words(messages)), "", "", losses)


def _below(prefix: str, read: Callable[..., _Read], *given: object) -> _Read:
    try:
        return read(*given)
    except InvalidDocument as error:
        raise error.below(prefix) from None


def _messages(row: JsonObject, account: Account, tools: Sequence[ToolSpec] | None) -> tuple[Message, ...]:
    text = row.get("text")
    calls = calls_in(row.get("tool_calls"), "/tool_calls", account)
    if not calls and text is not None:
        calls = calls_in_text(text, tools)
    return (Message("assistant", text, calls),) if calls or text is not None else ()
