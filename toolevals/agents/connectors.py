"""Lists the ways to an agent that is asked while a run lasts in one table, for pages, REST, commands and workers.

Reading it loads no client: each is loaded when an agent is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from toolevals.agents.chats import Chat, NoRateLimit, Pace, PatientChat, RetryPolicy
from toolevals.agents.loop import Task
from toolevals.agents.options import AnthropicOptions, ChatOptions, WebhookOptions
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

if TYPE_CHECKING:
    from toolevals.agents.network import AddressPolicy


# An agent, opened: who does a task. Safe in several threads.
Agent: TypeAlias = Callable[[Task], Chat]


class ConnectorOptions(Protocol):
    """The options of one connector. `secret` names the project's secret that it uses, empty for none."""

    @property
    def secret(self) -> str: ...

    @property
    def address(self) -> str: ...

    def to_document(self) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class Opening:
    """Holds what an agent is opened with: the run's id, the value of its secret, whom it may call, how patiently."""

    policy: AddressPolicy
    key: str = ""
    run: str = ""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    pace: Pace = field(default_factory=NoRateLimit)


@dataclass(frozen=True, slots=True)
class Connector:
    """A way to agents.

    `words` name what is run ("a model behind chat completions"), `title` is the same in two or three words, `where`
    says what its address is of, `key` what its secret is for. `options` are its options besides the model, with what
    each is unless said (None where it must be said, or nothing is). Where it `asks_model`, the agent's model is one
    of its options and must be said. Where it `counts_input`, what it is sent are the tokens of the example and its
    tools.
    """

    title: str
    words: str
    where: str
    options: JsonMapping
    reader: Callable[[JsonMapping], ConnectorOptions]
    open: Callable[[Any, Opening], AbstractContextManager[Agent]]
    key: str = "One of the project's secrets."
    asks_model: bool = True
    counts_input: bool = True

    def read(self, document: JsonMapping, model: str) -> ConnectorOptions:
        """Read an agent's options. Raises InvalidDocument with every problem."""
        if not self.asks_model:
            return self.reader(document)
        return self.reader({**document, "model": model})


@contextmanager
def _openai(options: ChatOptions, opening: Opening) -> Iterator[Agent]:
    from toolevals.agents.openai_chat import OpenAIChat

    with OpenAIChat(options, key=opening.key, policy=opening.policy) as chat:
        patient = PatientChat(chat, opening.retry, opening.pace)
        yield lambda _task: patient


@contextmanager
def _anthropic(options: AnthropicOptions, opening: Opening) -> Iterator[Agent]:
    from toolevals.agents.anthropic_chat import AnthropicChat

    with AnthropicChat(options, key=opening.key, policy=opening.policy) as chat:
        patient = PatientChat(chat, opening.retry, opening.pace)
        yield lambda _task: patient


@contextmanager
def _webhook(options: WebhookOptions, opening: Opening) -> Iterator[Agent]:
    from toolevals.agents.network import guarded_client
    from toolevals.agents.webhook import Webhook, WebhookChat

    with guarded_client(opening.policy, seconds=options.timeout) as client:
        webhook = Webhook(client, options.url, opening.key, opening.run)
        yield lambda task: PatientChat(WebhookChat(webhook, task), opening.retry, opening.pace)


def _options(options: type[Any]) -> JsonMapping:
    defaults = {each.name: None if each.default is MISSING else each.default for each in fields(options)}
    return {name: default for name, default in defaults.items() if name != "model"}


# By the name that an agent keeps.
CONNECTORS: Mapping[str, Connector] = {
    "openai": Connector(
        "Chat completions",
        "a model behind chat completions",
        "Base URL of the chat completions API, such as https://models.example.org/v1.",
        _options(ChatOptions),
        ChatOptions.from_document,
        _openai,
    ),
    "anthropic": Connector(
        "Anthropic Messages",
        "a model behind Anthropic Messages",
        "Of its Messages interface, without /v1; the provider's own, or a gateway's.",
        _options(AnthropicOptions),
        AnthropicOptions.from_document,
        _anthropic,
    ),
    "webhook": Connector(
        "Webhook",
        "your own agent behind a webhook",
        "toolevals posts each example to this URL. The agent answers with what it did.",
        _options(WebhookOptions),
        WebhookOptions.from_document,
        _webhook,
        "One of the project’s secrets. It is used to sign requests.",
        asks_model=False,
        counts_input=False,
    ),
}
# What is meant where no one says.
DEFAULT = "openai"


def connector_named(name: str) -> Connector:
    """Return a connector. Raises InvalidDocument."""
    if name not in CONNECTORS:
        raise InvalidDocument.at("", f"must be one of {', '.join(CONNECTORS)}")
    return CONNECTORS[name]
