"""Tell what an agent behind a webhook answers, read as the turn that it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from toolevals.agents.chats import Reply
from toolevals.agents.openai_messages import with_ids
from toolevals.grading.reading.parsing import Loss, last_words, read_transcript
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Message, Transcript
from toolevals.grading.values.problems import InvalidDocument

# The keys of a prediction of which one is enough.
_PREDICTION = ("messages", "steps", "tool_calls", "text", "answer", "error")
# The keys by which a single message, or a provider's whole answer, is known.
_OF_PROVIDERS = ("role", "choices", "candidates", "contents", "output", "jsonrpc")


def transcript_of(answer: Any) -> tuple[Transcript, tuple[Loss, ...]]:
    """Read an answer, and what of it is left out: a line of predictions without its id, or messages in any format.

    Raises InvalidDocument.
    """
    if isinstance(answer, dict) and not any(key in answer for key in _OF_PROVIDERS):
        if not any(key in answer for key in _PREDICTION):
            raise InvalidDocument.at("", f"has none of {', '.join(_PREDICTION)}")
        prediction = read_prediction({**answer, "id": "asked", "trial": 0})
        return prediction.transcript, prediction.losses
    read = read_transcript(answer)
    return read.transcript, read.losses


def reply_of(
    transcript: Transcript, asked: Sequence[Message], milliseconds: float, losses: tuple[Loss, ...] = ()
) -> Reply:
    """Return the turn that an agent took: what it did by itself, and its last message.

    A transcript that begins with the conversation as it was asked is taken from where that ends. What it says of its
    own latency goes before the `milliseconds` that were measured.
    """
    done = transcript.messages
    if asked and done[: len(asked)] == tuple(asked):
        done = done[len(asked) :]
    done = tuple(
        replace(message, calls=with_ids(message.calls, place=len(asked) + number))
        for number, message in enumerate(done)
    )
    ends_with_words = transcript.answer is not None and transcript.answer != last_words(done)
    if ends_with_words or not done or done[-1].role != "assistant":
        done = (*done, Message("assistant", transcript.answer))
    latency = milliseconds if transcript.latency_ms is None else transcript.latency_ms
    return Reply(done[-1], transcript.usage, latency, before=done[:-1], state=transcript.state, losses=losses)
