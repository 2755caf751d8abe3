"""Asks agents behind a webhook: each task is posted as JSON, and what comes back is read as the turn that it took.

Requests are signed as https://www.standardwebhooks.com says, so that libraries for it check them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from toolevals.agents.chats import Reply, UnreachableError, is_transient, retry_after, unreachable
from toolevals.agents.loop import Task
from toolevals.agents.network import ANSWER_BYTES, AnswerRefusedError, ForbiddenAddressError
from toolevals.agents.openai_messages import with_ids
from toolevals.agents.signing import signed_headers
from toolevals.grading.reading.parsing import Loss, last_words, read_transcript
from toolevals.grading.reading.parsing.text import unheeded, with_text_calls
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Message, ToolSpec, Transcript
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject

# The keys of a prediction of which one is enough.
_PREDICTION = ("messages", "steps", "tool_calls", "text", "answer", "error")
# The keys by which a single message, or a provider's whole answer, is known.
_OF_PROVIDERS = ("role", "choices", "candidates", "contents", "output", "jsonrpc")
MAX_DEPTH = 60


def transcript_of(answer: object, tools: Sequence[ToolSpec] | None = None) -> tuple[Transcript, tuple[Loss, ...]]:
    """Read an answer, and what of it is left out: a line of predictions without its id, or messages in any format.

    Calls in text are read with the `tools` that were offered. Raises InvalidDocument.
    """
    if isinstance(answer, dict) and not any(key in answer for key in _OF_PROVIDERS):
        if not any(key in answer for key in _PREDICTION):
            raise InvalidDocument.at("", f"has none of {', '.join(_PREDICTION)}")
        prediction = read_prediction({**answer, "id": "asked", "trial": 0}, tools=tools)
        return prediction.transcript, prediction.losses
    read = read_transcript(answer)
    made = with_text_calls(read.transcript, tools)
    return made, (*read.losses, *unheeded(made, tools, "/messages"))


def reply_of(
    transcript: Transcript, asked: Sequence[Message], milliseconds: float, losses: tuple[Loss, ...] = ()
) -> Reply:
    """Return the turn that an agent took: what it did by itself, and its last message.

    A transcript that begins with the conversation as it was asked is taken from where that ends. What it says of its
    own latency goes before the `milliseconds` that were measured.
    """
    done = transcript.messages
    if asked and [_bare(each) for each in done[: len(asked)]] == [_bare(each) for each in asked]:
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


@dataclass(frozen=True, slots=True)
class Webhook:
    """One agent's address, the client that calls it and the key that signs; `run` is the id of the run that asks."""

    client: httpx2.Client
    url: str
    key: str = ""
    run: str = ""
    now: Callable[[], float] = time.time

    def post(self, body: JsonObject, identifier: str) -> Any:
        """Return the JSON value that the agent answers. Raises UnreachableError."""
        content = json.dumps(body, ensure_ascii=False).encode()
        headers = {"content-type": "application/json", "accept": "application/json", "webhook-id": identifier}
        try:
            signature = signed_headers(self.key, identifier, content, self.now())
            with self.client.stream("POST", self.url, content=content, headers=headers | signature) as response:
                text = response.read()
        except (ForbiddenAddressError, AnswerRefusedError) as error:
            raise UnreachableError(str(error), again=False) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise unreachable(f"{type(error).__name__}: {error}", key=self.key, again=True) from None
        if not response.is_success:
            said = f"{response.status_code}: {text.decode(errors='replace')}"
            again, after = is_transient(response.status_code), retry_after(response.headers)
            raise unreachable(said, key=self.key, again=again, retry_after=after, status=response.status_code)
        try:
            return load_json(text, max_bytes=ANSWER_BYTES, max_depth=MAX_DEPTH)
        except InvalidDocument as error:
            raise unreachable(f"The agent's answer is not JSON: {error}", key=self.key, again=False) from None


@dataclass(frozen=True, slots=True)
class WebhookChat:
    """One task's conversation with an agent: it may call tools by itself, or leave its calls to the world."""

    webhook: Webhook
    task: Task

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Post the conversation so far and return what the agent did. Raises UnreachableError."""
        task = self.task
        example = {key: value for key, value in task.example.items() if key != "simulation"}
        body = {
            "run": self.webhook.run,
            "example": task.id,
            "trial": task.trial,
            "input": {**example, "messages": [message.to_document() for message in messages]},
            "tools": [tool.to_document() for tool in tools],
        }
        start = time.monotonic()
        # The same turn has the same id however often it is sent, so that an agent can tell.
        answer = self.webhook.post(body, f"{self.webhook.run}_{task.id}_{task.trial}_{len(messages)}")
        milliseconds = (time.monotonic() - start) * 1000
        try:
            transcript, losses = transcript_of(answer, tools)
        except InvalidDocument as error:
            said = f"The agent's answer is not a transcript: {error}"
            raise unreachable(said, key=self.webhook.key, again=False) from None
        if transcript.error:
            raise unreachable(transcript.error, key=self.webhook.key, again=False)
        return reply_of(transcript, messages, milliseconds, losses)


def _bare(message: Message) -> Message:
    """Return a message without its thought and without the calls that were found in its text."""
    bare = replace(message, calls=(), from_text=False) if message.from_text else message
    return replace(bare, thought=None)
