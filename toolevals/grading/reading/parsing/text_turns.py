"""Reads calls in the text of messages: a server without a reader for its model's form leaves them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolevals.grading.reading.parsing.losses import Loss
from toolevals.grading.reading.parsing.messages import last_words
from toolevals.grading.reading.parsing.text import calls_in_text, goes_on_alone
from toolevals.grading.values import Call, Message, ToolSpec, Transcript

# What is left out, in words.
UNHEEDED = "text behind an observation that the agent wrote itself"


def calls_said(message: Message, tools: Sequence[ToolSpec] | None) -> tuple[Call, ...]:
    """Return the calls in what a message of the assistant says; none where it has structured ones.

    Without the tools that were offered, only what a mark begins and whole texts of calls in JSON are calls.
    """
    if message.role != "assistant" or message.calls or not message.content:
        return ()
    return calls_in_text(message.content, tools or ())


def unheeded(transcript: Transcript, tools: Sequence[ToolSpec] | None, pointer: str) -> tuple[Loss, ...]:
    """Return what is left out of texts that calls were read from; `pointer` leads to what holds them."""
    texts = [message.content or "" for message in transcript.messages if message.from_text]
    count = sum(goes_on_alone(text, tools or ()) for text in texts)
    return (Loss(UNHEEDED, pointer, count, pointer),) if count else ()


def with_text_calls(transcript: Transcript, tools: Sequence[ToolSpec] | None) -> Transcript:
    """Return the transcript with the calls that the last turn of the assistant says in text.

    Where no message has structured calls, every turn of the assistant is read so. What calls is no answer.
    """
    given = transcript.messages
    structured = any(message.calls for message in given)
    last = max((place for place, message in enumerate(given) if message.role == "assistant"), default=-1)
    return _with(
        transcript,
        tuple(
            replace(message, calls=calls, from_text=True)
            if (place == last or not structured) and (calls := calls_said(message, tools))
            else message
            for place, message in enumerate(given)
        ),
    )


def read_with(transcript: Transcript, tools: Sequence[ToolSpec] | None) -> Transcript:
    """Return a transcript that was read when no one knew the tools: calls in text get the types of their schemas."""
    again = tuple(_again(message, tools) if tools else message for message in transcript.messages)
    return with_text_calls(_with(transcript, again), tools)


def _with(transcript: Transcript, messages: tuple[Message, ...]) -> Transcript:
    if messages == transcript.messages:
        return transcript
    answers = transcript.answer is not None and transcript.answer == last_words(transcript.messages)
    return replace(transcript, messages=messages, answer=last_words(messages) if answers else transcript.answer)


def _again(message: Message, tools: Sequence[ToolSpec]) -> Message:
    """Return a message, its calls typed by the tools' schemas where they are those of its text."""
    if not message.calls or not message.content or message.calls != calls_in_text(message.content):
        return message
    calls = calls_in_text(message.content, tools)
    same = [call.name for call in calls] == [call.name for call in message.calls]
    return replace(message, calls=calls) if same else message
