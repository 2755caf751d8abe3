"""Test how long a model that says nothing is waited for: as long as was said, whatever the client thinks of it."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from toolevals.agents.anthropic_chat import AnthropicChat
from toolevals.agents.chats import UnreachableError
from toolevals.agents.network import AddressPolicy, GuardedTransport
from toolevals.agents.openai_chat import OpenAIChat
from toolevals.agents.options import AnthropicOptions, ChatOptions
from toolevals.grading.values import Message

NOWHERE = {"base_url": "http://127.0.0.1:9/v1", "model": "small-2026-01-01"}
LOOPBACK = AddressPolicy.of(["127.0.0.0/8"])


def openai_chat(seconds: float) -> Any:
    return OpenAIChat(ChatOptions.from_document({**NOWHERE, "timeout": seconds}), policy=LOOPBACK)


def anthropic_chat(seconds: float) -> Any:
    return AnthropicChat(AnthropicOptions.from_document({**NOWHERE, "timeout": seconds}), policy=LOOPBACK)


# Five and ten seconds and ten minutes are what clients take where nobody says anything.
@pytest.mark.parametrize("seconds", [1.0, 5.0, 10.0, 120.0, 600.0])
@pytest.mark.parametrize("chat", [openai_chat, anthropic_chat])
def test_silence_is_borne_as_long_as_was_said(chat: Any, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    borne: list[Any] = []

    def silent(_: GuardedTransport, request: httpx2.Request) -> httpx2.Response:
        borne.append(request.extensions["timeout"])
        raise httpx2.ReadTimeout("silence", request=request)

    monkeypatch.setattr(GuardedTransport, "handle_request", silent)
    with chat(seconds) as opened, pytest.raises(UnreachableError, match="timed out"):
        opened.reply([Message("user", "Hello?")], ())
    assert [each["read"] for each in borne] == [seconds]
