"""Reads messages of any format, alone, in a list or in a whole response, as one Transcript with account of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from toolevals.grading.reading.parsing.content import said
from toolevals.grading.reading.parsing.extras import MEASURE_KEYS, is_count, usage_in
from toolevals.grading.reading.parsing.format_table import Found, found_in, nearest_words
from toolevals.grading.reading.parsing.formats.transcript_format import Opened
from toolevals.grading.reading.parsing.losses import Account, Loss, UnknownShapeError
from toolevals.grading.reading.parsing.turns import Turn, messages_of
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.documents import require_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.transcripts import with_few_calls
from toolevals.grading.values.value_classes import value_class

MessageFormat: TypeAlias = str
# Keys of whole requests and responses that say nothing of what was said and done.
_ABOUT = frozenset({
    "id", "object", "created", "created_at", "createdAt", "model", "modelVersion", "model_version", "responseId",
    "response_id", "type", "role", "status", "service_tier", "system_fingerprint", "stop_reason", "stop_sequence",
    "finish_reason", "tools", "functions", "tool_choice", "toolConfig", "tool_config", "parallel_tool_calls",
    "temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "max_output_tokens", "seed", "stream",
    "stop", "stop_sequences", "response_format", "text", "truncation", "store", "metadata", "user", "reasoning",
    "background", "incomplete_details", "previous_response_id", "prompt_cache_key", "safety_identifier", "completed_at",
    "frequency_penalty", "presence_penalty", "top_logprobs", "max_tool_calls", "generationConfig", "generation_config",
    "safetySettings", "safety_settings", "promptFeedback", "prompt_feedback", "createTime", "create_time", "choices",
    "answer", "error", "state", "ended", "recorded", "format", "inferenceConfig", "modelId", "stopReason", "metrics",
    "additionalModelRequestFields", "output_text", "billing", "moderation", "prompt", "trace", "performanceConfig",
    "guardrailConfig", "betas", "thinking", "serviceTier", "ResponseMetadata", "$metadata", *MEASURE_KEYS,
})  # fmt: skip


@value_class
class ReadTranscript:
    """A transcript, the name of the format that it was read from, why that one, and what was left out."""

    transcript: Transcript
    format: str
    why: str
    losses: tuple[Loss, ...] = ()


def read_transcript(document: object, message_format: MessageFormat | None = None) -> ReadTranscript:
    """Read a message, a list of messages, or a whole response or request as a transcript.

    Without a format it is found by what only one format has; where nothing tells, messages of a role and text are read
    as OpenAI's chat messages. The last words of the assistant are the answer. Calls that cannot be read are
    MalformedCalls. What a transcript has no place for is a loss, known or unknown. Raises InvalidDocument where the
    document is no list of objects, an item is not of the format, something that looks like a call stands where the
    format has none, or a value could not have come from JSON (see `documents.require_json`).
    """
    require_json(document)
    try:
        found = found_in(document, message_format)
        account = Account(found.format.label, found.format.calls_at, strict=found.strict)
        messages = _messages(document, found, account)
    except UnknownShapeError as error:
        raise error if message_format is not None else _with_nearest(error, document) from None
    return ReadTranscript(_transcript(document, messages), found.format.name, found.why, account.losses)


def transcript_in(document: object, message_format: MessageFormat | None = None) -> Transcript:
    """Return the transcript of `read_transcript` alone, for documents whose losses were shown before."""
    return read_transcript(document, message_format).transcript


def last_words(messages: tuple[Message, ...]) -> str | None:
    """Return what the assistant said last, where it ended with words and not with a call."""
    last = messages[-1] if messages else None
    return last.content if last is not None and last.role == "assistant" and not last.calls else None


def _messages(document: object, found: Found, account: Account) -> tuple[Message, ...]:
    each, opened = found.format, found.opened
    for pointer, item in opened.items:
        if not each.accepts(item):
            raise UnknownShapeError.at(pointer, f"is not {each.item}, which {each.name} has")
    before = _beside(document, opened, account)
    made = (replace(turn, message=account.with_thought(turn.message)) for turn in each.turns(opened.items, account))
    turns = (turn for turn in made if not _is_left(turn, account))
    return with_few_calls((*before, *messages_of(turns)), opened.at)


def _is_left(turn: Turn, account: Account) -> bool:
    """Tell whether a message is the result of a call that was left out."""
    return turn.message.role == "tool" and turn.message.call_id in account.left_calls


def _beside(document: object, opened: Opened, account: Account) -> tuple[Message, ...]:
    """Account for what is next to the items, and return the system prompt that stands there."""
    if not isinstance(document, dict):
        return ()
    for pointer, what in opened.further:
        account.lost(pointer, what)
    account.rest(document, _ABOUT | opened.read, "")
    if opened.system is None:
        return ()
    pointer, given = opened.system
    parts = given.get("parts") if isinstance(given, dict) else None
    words = said(given, pointer, account) if parts is None else said(parts, f"{pointer}/parts", account)
    return () if words is None else (Message("system", words),)


def _with_nearest(error: InvalidDocument, document: object) -> InvalidDocument:
    """Return the error with the nearest known format next to its first problem."""
    first, *others = error.problems
    return InvalidDocument([Problem(first.pointer, f"{first.message}. {nearest_words(document)}"), *others])


def _transcript(document: object, messages: tuple[Message, ...]) -> Transcript:
    if not isinstance(document, dict):
        return Transcript(messages, last_words(messages))
    answer, latency, error = document.get("answer"), document.get("latency_ms"), document.get("error")
    return Transcript(
        messages=messages,
        answer=answer if isinstance(answer, str) else last_words(messages),
        usage=usage_in(document),
        latency_ms=latency if is_count(latency) else None,
        error=error if isinstance(error, str) and error and "jsonrpc" not in document else None,
    )
